// The main of test programs that have none of their own.
#include "tests/support/catch_run.h"

int main(int argc, char** argv) { return keyway::test::run_catch(argc, argv); }
