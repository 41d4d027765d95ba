import type { AnyResource } from "@isthmus/core";
import { growthOf, MOST_GROWTH, PATIENCE_MS, repeated } from "@isthmus/testing";
import { describe, expect, it } from "vitest";
import { redacted } from "../src/redacted.ts";

const CANARY = "canary-9f2c";

const places: readonly [string, AnyResource][] = [
  ["data of a Secret", { ...named("v1", "Secret"), data: { "tls.key": CANARY }, stringData: { password: CANARY } }],
  ["an environment variable", { ...named("v1", "Pod"), spec: { containers: [{ name: "c", env: [{ name: "X", value: CANARY }] }] } }],
  ["an argument", { ...named("v1", "Pod"), spec: { containers: [{ args: [`--api-token=${CANARY}`] }] } }],
  ["what kubectl applied last", annotated({ "kubectl.kubernetes.io/last-applied-configuration": `{"data":"${CANARY}"}` })],
  [
    "a private key",
    { ...named("v1", "ConfigMap"), data: { pem: `-----BEGIN RSA PRIVATE KEY-----\n${CANARY}\n-----END RSA PRIVATE KEY-----` } },
  ],
  ["an address", { ...named("v1", "ConfigMap"), data: { url: `redis://user:${CANARY}@redis:6379` } }],
  ["a line of a file", { ...named("v1", "ConfigMap"), data: { "app.yaml": `host: a\nclientSecret: ${CANARY}\n` } }],
  ["JSON in a file", { ...named("v1", "ConfigMap"), data: { "app.json": `{"host":"a","apiKey":"${CANARY}"}` } }],
  [
    "a header",
    { ...named("x/v1", "Y"), spec: { headers: { authorization: `Bearer ${CANARY}` }, text: `Authorization: Bearer ${CANARY}` } },
  ],
  ["a field of that name", { ...named("x/v1", "Y"), spec: { oauth: { client_secret: CANARY } } }],
  ["managed fields", { ...named("x/v1", "Y"), metadata: { name: "a", managedFields: [{ x: CANARY }] } }],
];

function configMap(data: Readonly<Record<string, string>>): AnyResource {
  return { ...named("v1", "ConfigMap"), data };
}

function named(apiVersion: string, kind: string): AnyResource {
  return { apiVersion, kind, metadata: { name: "a", namespace: "b" } };
}

function annotated(annotations: Record<string, string>): AnyResource {
  return { apiVersion: "v1", kind: "Service", metadata: { name: "a", annotations } };
}

describe("what is shown of an object", () => {
  it.each(places)("leaves out %s", (_, resource) => {
    expect(JSON.stringify(resource)).toContain(CANARY);
    expect(JSON.stringify(redacted(resource))).not.toContain(CANARY);
  });

  it("keeps names, keys and public certificates", () => {
    const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
    const gateway = {
      ...named("networking.istio.io/v1", "Gateway"),
      spec: { servers: [{ tls: { credentialName: "shop-tls", mode: "MUTUAL" } }] },
    };
    expect(redacted(gateway)).toEqual(gateway);
    const configMap: AnyResource = { ...named("v1", "ConfigMap"), data: { root: certificate } };
    expect(redacted(configMap)["data"]).toEqual({ root: certificate });
    const secret: AnyResource = { ...named("v1", "Secret"), type: "kubernetes.io/tls", data: { "tls.crt": "x" } };
    expect(redacted(secret)).toEqual({
      ...named("v1", "Secret"),
      type: "kubernetes.io/tls",
      data: { "tls.crt": "<redacted>" },
    });
  });

  it("changes nothing of the object itself", () => {
    const secret: AnyResource = { ...named("v1", "Secret"), data: { a: CANARY } };
    redacted(secret);
    expect(secret["data"]).toEqual({ a: CANARY });
  });
});

it.each(["a", "a ", "a:", '"a"', "://a:", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "bearer ", "- ", "=", '":"'])(
  "what is shown costs its length: %j, over and over",
  (part) => {
    const show = (text: string) => void redacted(configMap({ text }));
    expect(growthOf(show, repeated(part))).toBeLessThan(MOST_GROWTH);
  },
  PATIENCE_MS,
);
