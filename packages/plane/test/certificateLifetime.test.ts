import { Settings } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { agentCertificateLifetimeMs } from "../src/index.ts";

const namespace = "gloo-mesh";

test.each([
  [undefined, 86_400_000],
  ["2h", 7_200_000],
  ["1h30m", 5_400_000],
  ["1s", 60_000],
  ["90000h", 31_536_000_000],
])("with %s in the Settings agents' certificates live for %i ms", (agentCertificateLifetime, expected) => {
  const { apiVersion, kind } = Settings;
  const relay = agentCertificateLifetime === undefined ? {} : { agentCertificateLifetime };
  const settings = Settings.parse({ apiVersion, kind, metadata: { name: "settings", namespace, clusterName: "" }, spec: { relay } });
  expect(agentCertificateLifetimeMs({ snapshot: snapshotOf([settings]) }, namespace)).toBe(expected);
  expect(agentCertificateLifetimeMs({ snapshot: snapshotOf([]) }, namespace)).toBe(86_400_000);
});
