export * from "./accessReviews.ts";
export * from "./clusterPort.ts";
export * from "./httpPort.ts";
export * from "./storePort.ts";
