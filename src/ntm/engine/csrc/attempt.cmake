# Builds the extension and puts it into `result`, with a _build.txt that says what was built. Where
# that fails, only the _build.txt is there and says why, and the script ends well all the same.
#
#   cmake -Dsource=. -Dbuild=DIR -Dsettings=FILE -Dgenerator=NAME -Dresult=DIR -P attempt.cmake

# A macro, so that return() leaves this file.
macro(run)
  execute_process(COMMAND "${CMAKE_COMMAND}" ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output
                  ERROR_VARIABLE output ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE)
  if(failed)
    record_failure("${output}")
    return()
  endif()
endmacro()

# The reason is the first line that a compiler calls an error, or what CMake itself has to say.
function(record_failure output)
  if(output MATCHES "[^\n]*error: [^\n]+")
    set(reason "${CMAKE_MATCH_0}")
  elseif(output MATCHES "CMake Error[^\n]*:[\n ]+(.*)")
    string(REGEX REPLACE "[\n ]+" " " reason "${CMAKE_MATCH_1}")
    string(REGEX REPLACE " (It fails with|Call Stack|CMake Error).*" "" reason "${reason}")
  else()
    set(reason "the output of the build says why")
  endif()
  file(WRITE "${result}/_build.txt" "built without the native engine: ${reason}\n")
  message(WARNING "ntm: built without the native engine: ${reason}")
endfunction()

file(REMOVE_RECURSE "${result}")
if(NOT EXISTS "${build}/_build.txt") # it was never configured to the end: begin anew
  file(REMOVE_RECURSE "${build}")
endif()
run(-S "${source}" -B "${build}" -G "${generator}" -C "${settings}")
run(--build "${build}")
run(--install "${build}" --prefix "${result}")
