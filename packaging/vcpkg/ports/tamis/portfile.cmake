# An overlay port inside the repository, so the sources are the repository itself. Not run yet.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  c TAMIS_BUILD_C
  parquet TAMIS_PARQUET
  redis TAMIS_REDIS
  simd TAMIS_SIMD
  tools TAMIS_BUILD_TOOLS)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${features}
  -DTAMIS_BUILD_BENCH=OFF
  -DTAMIS_BUILD_PYTHON=OFF
  -DTAMIS_BUILD_TESTS=OFF
  -DTAMIS_CUDA=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tamis)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tamis AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
