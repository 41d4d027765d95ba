import type { AnyResource, Resource } from "@isthmus/core";
import { refOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { serverRoles } from "../src/index.ts";
import { managementEventFilter } from "../src/server/managementEventFilter.ts";

const { kinds, discoveryOwner, translationView } = serverRoles("gloo-mesh");
const newsOf = () => managementEventFilter({ discovery: kinds.discovery, discoveryOwner, translationView });

const policy = (fields: object = {}, metadata: object = {}): AnyResource => ({
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "TrafficPolicy",
  metadata: { name: "timeouts", namespace: "gloo-mesh", generation: 1, resourceVersion: "1", ...metadata },
  spec: { policy: { requestTimeout: "5s" } },
  ...fields,
});
const cluster = (status: object): AnyResource => ({
  apiVersion: "multicluster.solo.io/v1alpha1",
  kind: "KubernetesCluster",
  metadata: { name: "cluster-1", namespace: "gloo-mesh" },
  spec: {},
  status,
});
const put = (...resources: readonly Resource[]) => ({ put: resources, remove: [] });

test("a status that is written, and the version that it gives, are no news for translation", () => {
  const news = newsOf();
  expect(news.of(put(policy())).put).toHaveLength(1);
  expect(news.of(put(policy({ status: { state: "ACCEPTED" } }, { resourceVersion: "2" }))).put).toEqual([]);
  const changed = policy({ spec: { policy: { requestTimeout: "6s" } } }, { generation: 2, resourceVersion: "3" });
  expect(news.of(put(changed)).put).toMatchObject([{ spec: { policy: { requestTimeout: "6s" } } }]);
});

test("an object that went and comes back as it was is news", () => {
  const news = newsOf();
  news.of(put(policy()));
  expect(news.of({ put: [], remove: [refOf(policy())] }).remove).toHaveLength(1);
  expect(news.of(put(policy())).put).toHaveLength(1);
});

test("of a registered cluster it is news where its agent runs, and not how it is", () => {
  const news = newsOf();
  expect(news.of(put(cluster({}))).put).toHaveLength(1);
  expect(news.of(put(cluster({ conditions: [{ type: "Connected", status: "False" }] }))).put).toEqual([]);
  expect(news.of(put(cluster({ namespace: "gloo-mesh", agent: { version: "1", connected: true } }))).put).toHaveLength(1);
  expect(news.of(put(cluster({ namespace: "gloo-mesh", agent: { version: "2", connected: false } }))).put).toEqual([]);
});

test("what we discovered ourselves is none; what somebody else made is", () => {
  const destination = (labels: Readonly<Record<string, string>>): AnyResource => ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name: "d", namespace: "gloo-mesh", labels },
  });
  expect(newsOf().of(put(destination({ [discoveryOwner.label]: discoveryOwner.value }))).put).toEqual([]);
  expect(newsOf().of(put(destination({}))).put).toHaveLength(1);
});
