# add_users(COMPONENTS...): for each component the program COMPONENT_user, linked to it alone, and its test.
function(add_users)
  foreach(component IN LISTS ARGN)
    add_executable(${component}_user "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${component}_user.cpp")
    target_link_libraries(${component}_user PRIVATE fp4proof::${component})
    add_test(NAME ${component}_user COMMAND ${component}_user)
  endforeach()
endfunction()
