#pragma once
// The rules: each looks at the evidence and gives its findings. None of them knows another.

#include "findings/evidence.hpp"

#include <vector>

namespace tracso::findings {

std::vector<Finding> duplicate_openmp(const Evidence& evidence);
std::vector<Finding> duplicate_openssl(const Evidence& evidence);
std::vector<Finding> duplicate_libraries(const Evidence& evidence);
std::vector<Finding> duplicate_sonames(const Evidence& evidence);
std::vector<Finding> identical_copies(const Evidence& evidence);

std::vector<Finding> library_path_override(const Evidence& evidence);
std::vector<Finding> shadowed_python(const Evidence& evidence);
std::vector<Finding> prediction_differs(const Evidence& evidence);
std::vector<Finding> active_preloads(const Evidence& evidence);
std::vector<Finding> missing_preloads(const Evidence& evidence);
std::vector<Finding> empty_paths(const Evidence& evidence);
std::vector<Finding> late_variables(const Evidence& evidence);

std::vector<Finding> missing_needed(const Evidence& evidence);
std::vector<Finding> missing_versions(const Evidence& evidence);
std::vector<Finding> wrong_architecture(const Evidence& evidence);
std::vector<Finding> undefined_symbols(const Evidence& evidence);
std::vector<Finding> refused_loads(const Evidence& evidence);

std::vector<Finding> deleted_files(const Evidence& evidence);
std::vector<Finding> replaced_files(const Evidence& evidence);
std::vector<Finding> rewritten_files(const Evidence& evidence);
std::vector<Finding> temporary_libraries(const Evidence& evidence);

std::vector<Finding> executable_stacks(const Evidence& evidence);
std::vector<Finding> text_relocations(const Evidence& evidence);
std::vector<Finding> static_tls(const Evidence& evidence);
std::vector<Finding> own_namespaces(const Evidence& evidence);
std::vector<Finding> mixed_libc(const Evidence& evidence);

std::vector<Finding> interposed_functions(const Evidence& evidence);
std::vector<Finding> several_allocators(const Evidence& evidence);
std::vector<Finding> unused_libraries(const Evidence& evidence);

std::vector<Finding> writable_places(const Evidence& evidence);
std::vector<Finding> creatable_paths(const Evidence& evidence);
std::vector<Finding> remote_files(const Evidence& evidence);
std::vector<Finding> relative_files(const Evidence& evidence);

std::vector<Finding> writable_code(const Evidence& evidence);
std::vector<Finding> scarce_descriptors(const Evidence& evidence);
std::vector<Finding> too_many_threads(const Evidence& evidence);
std::vector<Finding> heavy_arenas(const Evidence& evidence);
std::vector<Finding> ignored_variables(const Evidence& evidence);
std::vector<Finding> other_python_abi(const Evidence& evidence);
std::vector<Finding> cuda_stubs(const Evidence& evidence);
std::vector<Finding> mixed_cuda(const Evidence& evidence);
std::vector<Finding> skipped_probe(const Evidence& evidence);

}  // namespace tracso::findings
