export { anyText } from "./anyText.ts";
export { clusterObjects, fleets, fleetTraces } from "./arbitraries.ts";
export type { ClusterUnderTest } from "./clusterContract/subject.ts";
export { clusterContract } from "./clusterContract.ts";
export {
  type DocumentedSchema,
  documentedDefaults,
  undocumentedMembers,
  withDocumentedDefaults,
} from "./documentedDefaults.ts";
export { type GoldenInput, printDocuments, readDocuments, readInput } from "./documents.ts";
export { describeGolden, type GoldenResult, type GoldenTranslator } from "./golden.ts";
export { growthOf, LARGE_TEXT, leastCpuMs, MOST_GROWTH, PATIENCE_MS, repeated, SMALL_TEXT } from "./growth.ts";
export { heldBy, longText } from "./heldBy.ts";
export { heldBytes, MEBIBYTE } from "./heldBytes.ts";
export { withThrowingMember } from "./memberThatThrows.ts";
export { drawsEachCase, runs, sampled } from "./runs.ts";
export { soundTranslation } from "./soundTranslation.ts";
export { type StoreUnderTest, storeContract } from "./storeContract.ts";
export { type Step, stepsOver } from "./traces.ts";
export { type WatchedSnapshot, watchedSnapshot } from "./watchedSnapshot.ts";
export { withoutMaterial } from "./withoutMaterial.ts";
