# One helper per kind of target, so that flags and labels are decided in one place.

if(NOT FP4PROOF_GPU_ONLY OR FP4PROOF_BUILD_TESTS)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

# Strict IEEE arithmetic: every target that computes a number links this.
add_library(fp4proof_strict INTERFACE)
add_library(fp4proof::strict ALIAS fp4proof_strict)
set_target_properties(fp4proof_strict PROPERTIES EXPORT_NAME strict)
target_compile_features(fp4proof_strict INTERFACE cxx_std_20)
target_compile_options(fp4proof_strict INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-ffp-contract=off;-fno-fast-math>)

# Build-only settings: warnings, sanitizers, processor. Never exported to users.
add_library(fp4proof_build INTERFACE)
target_compile_options(fp4proof_build INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>)
if(FP4PROOF_WARNINGS_ARE_ERRORS)
  target_compile_options(fp4proof_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: -Wrestrict warns about memcpy inside std::string operator+, wherever it stands.
  target_compile_options(fp4proof_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(FP4PROOF_SANITIZE)
  target_compile_options(fp4proof_build INTERFACE -fsanitize=${FP4PROOF_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(fp4proof_build INTERFACE -fsanitize=${FP4PROOF_SANITIZE})
endif()
if(FP4PROOF_NATIVE)
  target_compile_options(fp4proof_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

# fp4proof_library(NAME SOURCES files... [DEPENDS targets...] [PRIVATE_DEPENDS targets...])
# A static library fp4proof_NAME with alias fp4proof::NAME. Includes are written from the root.
# It belongs to the room (first folder) that it is written in: see fp4proof_room_target.
function(fp4proof_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(fp4proof_${name} STATIC ${ARG_SOURCES})
  add_library(fp4proof::${name} ALIAS fp4proof_${name})
  set_target_properties(fp4proof_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(fp4proof_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/fp4proof>)
  target_link_libraries(fp4proof_${name} PUBLIC fp4proof::strict ${ARG_DEPENDS}
    PRIVATE $<BUILD_INTERFACE:fp4proof_build> ${ARG_PRIVATE_DEPENDS})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "/.*" "" room "${folder}")
  set_property(GLOBAL APPEND PROPERTY FP4PROOF_LIBRARIES_${room} fp4proof_${name})
endfunction()

# fp4proof_compile_alone(files...): private names of these files stand in other files of their target too, as every verb
# has its Options, so they stay out of a unity build.
function(fp4proof_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# fp4proof_room_target(ROOM): fp4proof::ROOM, an interface over the libraries that the room has made.
function(fp4proof_room_target room)
  get_property(libraries GLOBAL PROPERTY FP4PROOF_LIBRARIES_${room})
  add_library(fp4proof_${room} INTERFACE)
  add_library(fp4proof::${room} ALIAS fp4proof_${room})
  set_target_properties(fp4proof_${room} PROPERTIES EXPORT_NAME ${room})
  list(TRANSFORM libraries REPLACE "^fp4proof_" "fp4proof::")
  target_link_libraries(fp4proof_${room} INTERFACE ${libraries})
endfunction()

# fp4proof_test(NAME SOURCES files... [DEPENDS targets...] [LABELS labels...] [ARGS arguments...])
# A GoogleTest program registered as one ctest entry; zero tests run is a failure.
function(fp4proof_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE fp4proof::strict fp4proof_build ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    FP4PROOF_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" FP4PROOF_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  # Two threads a test that sleep while they wait: tests run side by side, and spinning threads outnumber the cores.
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}"
    FAIL_REGULAR_EXPRESSION "Running 0 tests" ENVIRONMENT "OMP_NUM_THREADS=2;OMP_WAIT_POLICY=passive")
endfunction()
