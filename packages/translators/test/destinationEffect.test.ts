import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Destination, DestinationRule, VirtualService } from "@isthmus/api";
import { equalJson, kindKeyOf, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, it } from "vitest";
import { destinationEffect } from "../src/effect/destinationEffect.ts";

const folder = "packages/translators/testdata";
const cases = ["routes", "virtualServices", "destinationRules", "federation"].flatMap((topic) =>
  readdirSync(join(folder, topic), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".in.yaml"))
    .map((name) => ({ name: join(topic, name), ...readInput(readFileSync(join(folder, topic, name), "utf8")) }))
    .filter(({ options }) => Object.keys(options).length === 0),
);

type Spec = {
  readonly hosts?: readonly string[];
  readonly host?: string;
  readonly http?: readonly object[];
  readonly tcp?: readonly object[];
  readonly trafficPolicy?: object;
};

it.each(cases)("says what is written, and names policies in force: $name", ({ resources }) => {
  const translation = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage: "networking" });
  const written = [...translation.networking].map(({ resource }) => resource as Resource & { readonly spec?: Spec });
  for (const destination of translation.attached.of(Destination)) {
    const effect = destinationEffect(translation, refOf(destination));
    const inForce = (destination.status?.appliedTrafficPolicies ?? []).map(({ ref }) => ref?.name);
    for (const { cluster, host, routes, connection } of effect?.sources ?? []) {
      const of = (kind: { apiVersion: string; kind: string }) =>
        written.filter(
          (one) =>
            kindKeyOf(one) === kindKeyOf(kind) && one.metadata.clusterName === cluster && (one.spec?.hosts?.[0] ?? one.spec?.host) === host,
        );
      for (const { values } of routes) for (const { policy } of values) expect(inForce).toContain(policy?.name);
      for (const { policy } of connection) if (policy !== undefined) expect(inForce).toContain(policy.name);
      for (const { spec } of of(VirtualService)) {
        // One route for each match and port.
        const http = [...(spec?.http ?? []), ...(spec?.tcp ?? [])] as readonly Readonly<Record<string, unknown>>[];
        for (const { match, values } of routes) {
          const same = http.filter((route) => equalJson(withoutPort((route["match"] as readonly object[])[0]), match));
          expect(same.length).toBeGreaterThan(0);
          const fields = values.filter(({ field }) => field !== "route");
          for (const { field, value } of fields) {
            // No limit and no fault are said by nothing.
            const asWritten = equalJson(value, "0s") || equalJson(value, {}) ? undefined : value;
            expect(same.some((route) => equalJson(route[field], asWritten))).toBe(true);
          }
        }
      }
      for (const { spec } of of(DestinationRule)) {
        for (const { field, value } of connection) expect(spec?.trafficPolicy).toMatchObject({ [field]: value });
      }
    }
  }
});

it("covers values of several policies, and defaults", () => {
  const values = cases.flatMap(({ resources }) => {
    const translation = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage: "networking" });
    return [...translation.attached.of(Destination)].flatMap((destination) =>
      (destinationEffect(translation, refOf(destination))?.sources ?? []).flatMap(({ routes, connection }) => [
        ...routes.flatMap((route) => route.values),
        ...connection,
      ]),
    );
  });
  expect(new Set(values.map(({ field }) => field)).size).toBeGreaterThan(7);
  expect(values.filter(({ policy }) => policy === undefined).length).toBeGreaterThan(10);
  expect(values.filter(({ path }) => path?.startsWith("spec.policy.")).length).toBeGreaterThan(50);
});

function withoutPort(match: object | undefined): object {
  const { port: _, ...rest } = (match ?? {}) as { readonly port?: number };
  return rest;
}
