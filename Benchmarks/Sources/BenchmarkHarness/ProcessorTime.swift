import Glibc

/// Times `body` by the processor time of all threads of the process, which other processes hardly change.
package func processorTime(_ body: () async throws -> Checksum) async throws -> Run {
  let start = processorTimeSoFar()
  let sum = try await body()
  return Run(time: processorTimeSoFar() - start, checksum: sum.value)
}

private func processorTimeSoFar() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
