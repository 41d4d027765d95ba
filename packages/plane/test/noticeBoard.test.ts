import { KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { expect, it } from "vitest";
import { noticeBoard } from "../src/agent/notices.ts";
import { DEFAULT_SETTINGS } from "../src/agent/settings.ts";
import { NO_WRITES, receivedWriteRules, type WriteRules } from "../src/agent/writeMode.ts";
import { recordingLog } from "./recordingLog.ts";

it("a mode of this cluster that cannot be parsed lets nothing be written, and is logged; the next one holds", () => {
  const log = recordingLog();
  const received: WriteRules[] = [];
  const board = noticeBoard({
    userKinds: [],
    view: () => ({ malformed: new Map() }) as never,
    writer: { write: () => undefined } as never,
    defaults: DEFAULT_SETTINGS,
    settingsIn: () => undefined,
    modeIn: receivedWriteRules,
    mode: (rules) => void received.push(rules),
    changed: () => undefined,
    log,
  });
  const told = (mode: unknown): AnyResource => ({
    apiVersion: KubernetesCluster.apiVersion,
    kind: KubernetesCluster.kind,
    metadata: { name: "east", namespace: "gloo-mesh", clusterName: "east" },
    spec: { mode },
  });
  board.onNotices({ complete: false, put: [told(["manage"])], remove: [] });
  expect(received).toEqual([NO_WRITES]);
  expect(log.warnings).toEqual([
    expect.stringMatching(/^cannot parse the mode of this cluster from the server, so nothing is written: .*mode/),
  ]);
  board.onNotices({ complete: false, put: [told("manage")], remove: [] });
  expect(received.at(-1)).toEqual({ mode: "manage", managedObjects: [] });
});
