/**
 * Of API servers, etcd and istiods, which have small heaps and run for minutes: a quarter of their processor time went to collecting garbage. Up to four
 * times as much heap as they need stands for less of it, with a bound.
 */
export const GO_ENVIRONMENT = { GOGC: "300", GOMEMLIMIT: "700MiB" } as const;
