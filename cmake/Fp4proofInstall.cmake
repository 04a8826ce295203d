# install() and the config package. Loaded last: it installs the libraries that the rooms have made.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/fp4proof")
set(rooms formats reference)
set(targets fp4proof_strict fp4proof_formats fp4proof_reference)
if(FP4PROOF_BUILD_CONFORMANCE)
  list(APPEND rooms conformance)
  list(APPEND targets fp4proof_conformance)
endif()
foreach(room IN LISTS rooms)
  get_property(libraries GLOBAL PROPERTY FP4PROOF_LIBRARIES_${room})
  list(APPEND targets ${libraries})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fp4proof"
    FILES_MATCHING PATTERN "*.h")
endforeach()
foreach(target IN ITEMS fp4proof fp4proof_plain)
  if(TARGET ${target})
    list(APPEND targets ${target})
  endif()
endforeach()

install(TARGETS ${targets} EXPORT fp4proof-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT fp4proof-targets NAMESPACE fp4proof:: DESTINATION "${package_folder}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/fp4proof-config.cmake.in"
  "${PROJECT_BINARY_DIR}/fp4proof-config.cmake" INSTALL_DESTINATION "${package_folder}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fp4proof-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fp4proof-config.cmake" "${PROJECT_BINARY_DIR}/fp4proof-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/Fp4proofConformanceTest.cmake" DESTINATION "${package_folder}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
