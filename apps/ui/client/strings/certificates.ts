/** Words of the page of certificates and rotations. */
export const certificateStrings = {
  title: "Certificates and rotations",
  what: "certificates",
  use: "Use",
  left: "Valid for",
  next: "What happens next",
  steps: "Steps",
  done: "done",
  underWay: "under way",
  ahead: "ahead",
  rotations: "Roots of meshes",
  rotationsWhy:
    "Each mesh of a VirtualMesh takes these steps to a common root, or to a new one; a step is taken when all meshes have what it needs.",
  rotationsNone: "No VirtualMesh asks for a common root, so none is rotated here: spec.mtlsConfig.shared does.",
  notOfServer:
    "Without a management server only what clusters report of themselves is known: certificates of agents, and of the CAs of meshes. The roots, the certificates of the relay and tokens are in Secrets, which neither the store nor a saved snapshot has.",
  empty: "No certificate is known.",
  emptyHow: "A management server knows them all:",
  emptyCommand: "meshctl cert list",
  uses: new Map([
    ["meshRoot", "Root of meshes"],
    ["externalRoot", "Root of meshes, in Vault"],
    ["meshIntermediate", "CA of a mesh"],
    ["agent", "Client of an agent"],
    ["relayRoot", "Root of the relay"],
    ["relaySigning", "Signing CA of the relay"],
    ["relayServer", "Server of the relay"],
    ["joinToken", "Join token"],
    ["sharedToken", "Shared token"],
  ]) as ReadonlyMap<string, string>,
} as const;
