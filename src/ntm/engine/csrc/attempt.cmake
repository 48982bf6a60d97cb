# Build the extension into `result`, with a _build.txt that describes it. If the build fails, write
# only _build.txt, with the reason, and end without an error.
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

# The reason is the first error line of a compiler, or else CMake's own message.
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
if(NOT EXISTS "${build}/_build.txt") # the configuration never finished: start again
  file(REMOVE_RECURSE "${build}")
endif()
run(-S "${source}" -B "${build}" -G "${generator}" -C "${settings}")
run(--build "${build}")
run(--install "${build}" --prefix "${result}")
