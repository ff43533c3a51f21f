# lathe_add_plugin(NAME source… [TORCH]): NAME.so, to be put into the plug-in folder. It is linked with nothing of Lathe: the
# worker that loads it has it all. TORCH: it computes with LibTorch (models, tasks, metrics, number formats, parallel
# strategies).
# Needs the target Lathe::headers, and Lathe::torch for TORCH.
function(lathe_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "TORCH" "" "")
  add_library(${name} MODULE ${plugin_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_libraries(${name} PRIVATE Lathe::headers)
  if(plugin_TORCH)
    target_compile_definitions(${name} PRIVATE LATHE_PLUGIN_TORCH)
    target_link_libraries(${name} PRIVATE Lathe::torch)
  endif()
endfunction()
