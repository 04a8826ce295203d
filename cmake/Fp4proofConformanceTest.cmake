# fp4proof_add_conformance_test(NAME test BACKEND target PROFILE profile [SET smoke|quick|full] [ARGS arguments...])
#
# Gates a vendor's library: one ctest entry that runs `fp4proof run` on the shared library `target` (a CMake target, or
# the path of a file) with the vectors of the set (quick by default) under the named profile. The test passes on exit
# code 0 alone: conformant and complete. ARGS are handed to the command as they are, for example --report.
#
# The command is the target fp4proof::fp4proof where this package or project provides it, else `fp4proof` on the PATH.
function(fp4proof_add_conformance_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;BACKEND;PROFILE;SET" "ARGS")
  foreach(required NAME BACKEND PROFILE)
    if(NOT ARG_${required})
      message(FATAL_ERROR "fp4proof_add_conformance_test: ${required} is missing")
    endif()
  endforeach()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fp4proof_add_conformance_test: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_SET)
    set(ARG_SET quick)
  endif()
  if(TARGET fp4proof::fp4proof)
    set(command fp4proof::fp4proof)
  else()
    find_program(FP4PROOF_COMMAND fp4proof REQUIRED)
    mark_as_advanced(FP4PROOF_COMMAND)
    set(command "${FP4PROOF_COMMAND}")
  endif()
  set(backend "${ARG_BACKEND}")
  if(TARGET "${ARG_BACKEND}")
    set(backend "$<TARGET_FILE:${ARG_BACKEND}>")
  endif()
  add_test(NAME "${ARG_NAME}" COMMAND ${command} run --backend "${backend}" --set ${ARG_SET} --profile ${ARG_PROFILE}
    ${ARG_ARGS})
  set_tests_properties("${ARG_NAME}" PROPERTIES LABELS conformance)
endfunction()
