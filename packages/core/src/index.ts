export { type BackoffRange, backoffMs, doublingMs } from "./backoff.ts";
export { bytesOfBase64 } from "./base64.ts";
export { canonicalJson } from "./canonicalJson.ts";
export { type Clock, uptimeOf } from "./clock.ts";
export { type Collection, emptyCollection } from "./collection.ts";
export { compact, parseCompact } from "./compact.ts";
export { type CooperativeTask, inKeyOrder, runToCompletion, withEach } from "./cooperativeTask.ts";
export { type Delta, emptyDelta, isEmpty } from "./delta.ts";
export { equalContent, equalJson } from "./equality.ts";
export { DuplicateOutput, fileProblem, InvalidResource, messageOf, type Problem, problemText, UsageError } from "./errors.ts";
export { exactly } from "./exactly.ts";
export { FIRST_SEEN, firstSeenOf, withFirstSeen, withoutFirstSeen } from "./firstSeen.ts";
export { md5Hex, sha256Hex } from "./hashes.ts";
export { intern, internList, internPool, textHashOf } from "./intern.ts";
export type { Kind, ResourceOf } from "./kind.ts";
export { LAST_WRITER, type LastWriter, lastWriterOf, withLastWriter, withoutLastWriter } from "./lastWriter.ts";
export { excessOf, excessOfText, MAX_DEPTH, MAX_RESOURCE_BYTES, ResourceExcess } from "./limits.ts";
export type { Log, LogFields } from "./log.ts";
export { merged } from "./merged.ts";
export { discoveredName, isClusterName, sanitizedName } from "./names.ts";
export { abortedAfter, abortedWith, onAbort } from "./onAbort.ts";
export { emptyOutputSet, isOwnedBy, type Output, type OutputSet, type Owner, outputSet } from "./outputSet.ts";
export { type OwnershipConflict, ownershipConflict } from "./ownershipConflict.ts";
export {
  type ClusterObjectRef,
  clusterNameIn,
  compareKeys,
  displayName,
  formatRef,
  groupOf,
  keyOf,
  kindKeyOf,
  type ObjectRef,
  type ResourceRef,
  resourceKeyOf,
} from "./ref.ts";
export { type ApprovalState, type Report, worstState } from "./report.ts";
export {
  type AnyResource,
  clusterRefOf,
  fullKeyOf,
  inCluster,
  type Json,
  type JsonObject,
  keyOfResource,
  type Metadata,
  type OwnerReference,
  type Resource,
  refOf,
} from "./resource.ts";
export { type LabelRequirement, type LabelSelector, matchesLabels, matchesSelector } from "./selector.ts";
export { type Semaphore, semaphore } from "./semaphore.ts";
export {
  clusterOfDomain,
  DEFAULT_CLUSTER_DOMAIN,
  DEFAULT_HOSTNAME_SUFFIX,
  federatedDomain,
  hostOfService,
  type ServiceOfHost,
  serviceOfHostname,
} from "./serviceHost.ts";
export {
  addSignals,
  CODE_CLASSES,
  DURATION_BOUNDS,
  destinationCluster,
  edgeKey,
  edgeOfRow,
  edgeRow,
  hasSignals,
  isEdgeName,
  isSignalCount,
  isTrafficName,
  noSignals,
  OTHER_EDGES,
  otherEdge,
  SIGNAL_AT,
  SIGNAL_COUNT,
  type Signals,
  type TrafficEdge,
} from "./signals/goldenSignals.ts";
export {
  METRICS,
  type Meter,
  type Metric,
  type MetricDefinition,
  type MetricLabels,
  type MetricName,
  type MetricSource,
  noMeter,
} from "./signals/metrics.ts";
export { bucketQuantile, errorsIn, requestsIn, type SignalRates, signalRates } from "./signals/signalRates.ts";
export { applyDelta, deltaBetween, emptySnapshot, mergeSnapshots, type Snapshot, snapshotOf } from "./snapshot.ts";
export { type EntryChange, SortedMap } from "./sortedMap.ts";
export { type Condition, type TimedCondition, timedConditions } from "./status.ts";
export { emptyTable, type Index, type Table } from "./table.ts";
export { isHidden, plainJson, withoutHidden } from "./text/hiddenText.ts";
export { keptText } from "./text/keptText.ts";
export { nearestName } from "./text/nearestName.ts";
export { isSecretHeader } from "./text/secretHeaders.ts";
export { matchesWildcards } from "./text/wildcards.ts";
export { isAtLeast, minorSkew, minorVersion, type Skew, skewOf } from "./versionSkew.ts";
export { type WithoutUndefined, withoutUndefined } from "./withoutUndefined.ts";
