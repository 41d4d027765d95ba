export { DISCOVERY_FINDINGS } from "./discovery/findings.ts";
export { discoveryOwner } from "./discovery/metadata.ts";
export { FINDINGS, type FindingCode } from "./findings.ts";
export { networkingOwner } from "./networking/outputMetadata.ts";
export { NOT_HEARD } from "./statuses/approval.ts";
export { type Delivery, type DeliveryState, type StatusUpdate, statusesOf } from "./statuses.ts";
export { type TranslateOptions, targetOf, translate, type World } from "./translate.ts";
