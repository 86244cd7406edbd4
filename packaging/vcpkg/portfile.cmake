# The planning library without backends, MPI and command, as an overlay port of these sources:
#   vcpkg install stowage --overlay-ports=packaging/vcpkg
# Untested: no vcpkg was at hand.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../.." ABSOLUTE)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DWITH_GLPK=OFF -DWITH_CBC=OFF -DWITH_HIGHS=OFF -DWITH_MPI=OFF -DSTOWAGE_COMMAND=OFF
          -DSTOWAGE_TESTS=OFF -DSTOWAGE_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME stowage CONFIG_PATH lib/cmake/stowage)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
