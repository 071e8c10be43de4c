# A stranger's CMake project finds the installed package and uses two rooms.
source "$SOURCE/tests/common.sh"
cmake --install "$BUILD" --prefix "$WORK/installed" >install.log
cmake -S "$SOURCE/tests/consumer" -B build -G Ninja "-DCMAKE_PREFIX_PATH=$WORK/installed" >configure.log 2>&1 ||
  fail "configure: $(tail -n 20 configure.log)"
cmake --build build >build.log 2>&1 || fail "build: $(tail -n 20 build.log)"
expect "distance 3" build/stranger
expect "crossilo" installed/bin/crossilo --version
