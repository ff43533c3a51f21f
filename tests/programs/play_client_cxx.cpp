// lathe.h in C++.
#include "play_client.c"
