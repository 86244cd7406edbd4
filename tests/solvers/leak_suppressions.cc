// Read by LeakSanitizer when it is linked in. CoinUtils' presolve loses a few hundred bytes on some
// infeasible models; nothing outside that library can free them.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libCoinUtils\n"; }
