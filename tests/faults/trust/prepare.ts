import { createMeshRoot } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Fleet } from "../fleet.ts";
import { ROOTS, rootSecret, SECRET, trustOf } from "./objects.ts";

/** Users have roots of their own in the management cluster; with `shared`, the meshes of the VirtualMesh come below a generated one. */
export async function prepareTrust({ management, clock }: Fleet, trust: "own" | "shared"): Promise<void> {
  for (const root of ROOTS.filter((one) => one.startsWith("secret"))) {
    const options = { commonName: root, organization: "users", lifetimeMs: LIFE_MS, now: clock.now() };
    const { certificate, key } = await createMeshRoot(options, KEY_BITS);
    const texts = Object.entries({ "root-cert.pem": certificate, "key.pem": key });
    const data = Object.fromEntries(texts.map(([name, text]) => [name, btoa(text)]));
    await management.apply({ ...SECRET, metadata: rootSecret(root), data } as AnyResource, { fieldManager: "user" });
  }
  await clock.advance(PODS_MS);
  if (trust === "own") return;
  await management.apply(trustOf(ROOTS[0], { restartsPods: true }), { fieldManager: "security", force: true });
  await clock.advance(ROUNDS_MS);
}

const LIFE_MS = 365 * 86_400_000;
const KEY_BITS = 2048;
const PODS_MS = 10_000;
// Three rounds of restarts.
const ROUNDS_MS = 400_000;
