#if CAMBIUM_THREAD_SANITIZER
  import PageStore

  typealias Mutex = SanitizedMutex
#endif
