import { type ClusterObjectRef, keyOf } from "@isthmus/core";
import { expect, test } from "vitest";
import type { Feature } from "../src/meshes/istio/features/feature.ts";
import { defineFeature, defineReferringFeature, type RouteContext } from "../src/meshes/istio/features/feature.ts";
import { features } from "../src/meshes/istio/features/index.ts";
import { asksContext } from "../src/meshes/istio/policyFields.ts";
import type { PolicyReference } from "../src/meshes/meshTranslator.ts";
import { effectiveFields, sampleRules } from "./featureSamples.ts";

test("every field of a TrafficPolicy that has an effect is one feature", () => {
  expect(features.map(({ field }) => field).sort()).toEqual([...effectiveFields()].sort());
});

test("no two features set one output field", () => {
  const set = features.flatMap(({ writes, sets }) => Object.keys(sets).map((name) => `${writes} ${name}`));
  expect(new Set(set).size).toBe(set.length);
});

test.each(features.map((feature) => [feature.field, feature] as const))("%s sets what it says it sets", (field, feature) => {
  const fields = feature.fieldsOf(sampleRules(field), contextAsking(NOBODY));
  expect(Object.keys(fields).sort()).toEqual(Object.keys(feature.sets).sort());
});

test.each(features.map((feature) => [feature.field, feature] as const))(
  "%s asks for what it refers to, and for nothing else",
  (field, feature) => {
    const rules = sampleRules(field);
    const asked = new Set<string>();
    const context = contextAsking((ref) => asked.add(keyOf(ref)));
    feature.findingsOf(rules, context);
    feature.fieldsOf(rules, context);
    const referred = feature.referencesOf?.(rules) ?? [];
    expect([...asked].filter((key) => !referred.map(keyOfReference).includes(key))).toEqual([]);
    // What asks has another answer for each source.
    expect(asksContext(rules)).toBe(asked.size > 0);
  },
);

test("a feature that says too little of itself does not compile", () => {
  const limit = { field: "requestTimeout", writes: "route" } as const;
  const sets = { timeout: "spec.policy.requestTimeout" } as const;
  // @ts-expect-error: where users set `timeout` is missing
  defineFeature({ ...limit, sets: {}, fieldsOf: (timeout) => ({ timeout }) });
  // @ts-expect-error: it sets something else
  defineFeature({ ...limit, sets, fieldsOf: () => ({ retries: { attempts: 1 } }) });
  // @ts-expect-error: it is set by another field
  defineFeature({ ...limit, field: "retries", sets, fieldsOf: () => ({ timeout: "1s" }) });
  // @ts-expect-error: a DestinationRule has no such field
  defineFeature({ ...limit, writes: "connection", sets, fieldsOf: () => ({ timeout: "1s" }) });
  const copies = { field: "mirror", writes: "route", sets: { mirror: "spec.policy.mirror" } } as const;
  const service = { name: "a", namespace: "b", clusterName: "c" };
  // @ts-expect-error: it asks for a service and does not say that it refers to one
  defineFeature({ ...copies, fieldsOf: (_, context) => ({ mirror: { host: context.hostnameOf(service) } }) });
  const fieldsOf = (_: object, context: RouteContext) => ({ mirror: { host: context.hostnameOf(service) } });
  expect(defineReferringFeature({ ...copies, refersTo: () => [{ service }], fieldsOf }).referencesOf({ mirror: {} })).toEqual([
    { service },
  ]);
});

const NOBODY = () => undefined;

function keyOfReference(reference: PolicyReference): string {
  return keyOf("service" in reference ? reference.service : { clusterName: "", ...reference.virtualDestination });
}

/** A context that knows of nothing, and tells what it was asked for. */
function contextAsking(asked: (ref: ClusterObjectRef) => unknown): RouteContext {
  return {
    clusterName: "here",
    policyCluster: "",
    allowsHeaderOperators: false,
    destinationOf: (service) => void asked(service),
    virtualDestinationOf: (ref) => void asked({ clusterName: "", ...ref }),
    isFederatedHere: (service) => {
      asked(service);
      return false;
    },
    hostnameOf: (service) => {
      asked(service);
      return "a.b";
    },
  };
}

test("no origin of csrf is written as an empty text, which Envoy refuses", () => {
  const rules = {
    csrf: {
      filterEnabled: true,
      additionalOrigins: [
        { exact: "", prefix: "shop." },
        { regex: "", suffix: ".example.com" },
      ],
    },
  };
  const csrf = features.find(({ field }) => field === "csrf") as Feature;
  expect(csrf.findingsOf(rules, { allowsHeaderOperators: false })).toEqual([]);
  expect(csrf.fieldsOf(rules, { allowsHeaderOperators: false })).toMatchObject({
    csrf: { typed_config: { additional_origins: [{ prefix: "shop." }, { suffix: ".example.com" }] } },
  });
});
