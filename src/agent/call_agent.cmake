# The agent of `tracso calls`: a shared object of its own, put into the program as bytes. It runs
# inside other programs, without a C library and without a vector register, so it has its own flags:
# none of this build's (sanitizers, coverage, optimization, hardening) may reach it.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(agent_flags -std=gnu11 -D_GNU_SOURCE -O2 -g0 -fPIC -fvisibility=hidden -ffreestanding -fno-builtin
    -fno-stack-protector -fno-asynchronous-unwind-tables -mgeneral-regs-only -fcf-protection=none
    -U_FORTIFY_SOURCE -Wall -Wextra)
  file(GLOB agent_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/agent/*.c ${CMAKE_SOURCE_DIR}/src/agent/*.S)
  file(GLOB agent_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/agent/*.h ${CMAKE_SOURCE_DIR}/src/agent/*.inc)
  set(agent_file ${CMAKE_BINARY_DIR}/tracso-agent.so)
  add_custom_command(
    OUTPUT ${agent_file}
    COMMAND ${CMAKE_C_COMPILER} ${agent_flags} -shared -nostdlib -Wl,-z,initfirst -Wl,-z,now
            -Wl,-z,noexecstack -Wl,--hash-style=both -Wl,--build-id=none -Wl,-soname,tracso-agent.so -s
            -o ${agent_file} ${agent_sources}
    DEPENDS ${agent_sources} ${agent_headers}
    COMMENT "Building the call agent"
    VERBATIM)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/calls/agent_image.cpp PROPERTIES
    COMPILE_DEFINITIONS "TRACSO_AGENT_FILE=\"${agent_file}\""
    OBJECT_DEPENDS ${agent_file} SKIP_PRECOMPILE_HEADERS ON)
endif()
