export { InvalidPem } from "@isthmus/core/pem";
export { type AuthorityOptions, createAuthority, createRoot } from "./authority.ts";
export { type IssueOptions, issueClientCertificate, issueServerCertificate } from "./issue.ts";
export { AGENT_LIFETIME_MS, AUTHORITY_LIFETIME_MS, ROOT_LIFETIME_MS, SERVER_LIFETIME_MS } from "./lifetimes.ts";
export {
  createMeshKey,
  createMeshRequest,
  createMeshRoot,
  type IntermediateOptions,
  issueIntermediate,
  type MeshAuthorityOptions,
} from "./meshAuthority.ts";
export { type CheckedRoot, checkedRoot } from "./meshRoot.ts";
export { createRequest, createRequestFor, type SigningRequest } from "./request.ts";
export { renewalTime } from "./rotation.ts";
export {
  type CertificateFacts,
  certificateFacts,
  chainFacts,
  fingerprints,
  isForClientsAlone,
  isIssuedUnder,
  isKeyOf,
  isSignedBy,
  type KeyedCertificate,
  keyOfCertificate,
  keyOfRequest,
  type NewKey,
} from "./x509.ts";
