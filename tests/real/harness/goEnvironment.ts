/**
 * Of API servers, etcd and istiods, which have small heaps and run for minutes: a quarter of their processor time went to collecting garbage. Up to four
 * times as much heap as they need stands for less of it, with a bound. On one processor: with more, a program that waits spends as much again on looking
 * for work on the others, and collects garbage on those that others need.
 */
export const GO_ENVIRONMENT = { GOGC: "300", GOMEMLIMIT: "700MiB", GOMAXPROCS: "1" } as const;
