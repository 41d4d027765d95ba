export { asTranslated } from "./asTranslated.ts";
export { DISCOVERY_FINDINGS } from "./discovery/findings.ts";
export { memoryChanges, memoryOf, memoryRefOf } from "./discovery/meshMemory.ts";
export { discoveryOwner } from "./discovery/metadata.ts";
export { discoveryScope, type Scope } from "./discovery/scope.ts";
export { FINDINGS, type FindingCode } from "./findings.ts";
export { editsHiding } from "./hidden.ts";
export { INPUT_FINDINGS } from "./inputFindings.ts";
export { networkingOwner } from "./networking/outputMetadata.ts";
export { newReports } from "./newReports.ts";
export type { Ages } from "./precedence.ts";
export { isInScope, publicationScopeOf, publicationScopeSource, rescoped } from "./publicationScope.ts";
export { rememberedRequests } from "./rememberedRequests.ts";
export { NOT_HEARD } from "./statuses/approval.ts";
export {
  changedStatuses,
  type Delivery,
  type DeliveryState,
  judgement,
  type Statuses,
  type StatusUpdate,
  statusesAfter,
  statusesOf,
} from "./statuses.ts";
export { causesOf, type TranslateOptions, translate, translation, type World } from "./translate.ts";
