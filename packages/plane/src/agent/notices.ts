import {
  type AnyResource,
  type Delta,
  formatRef,
  type JsonObject,
  type Kind,
  keptText,
  kindKeyOf,
  type Log,
  messageOf,
  type Resource,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import type { Notices } from "@isthmus/ports";
import { keepUnreported } from "../apply/keepUnreported.ts";
import { malformedStatus } from "../apply/malformedStatus.ts";
import type { DesiredStatus, StatusWriter } from "../apply/statusWriter.ts";
import type { Informer } from "../informer/informer.ts";
import type { AgentSettings } from "./settings.ts";
import { NO_WRITES, type WriteRules } from "./writeMode.ts";

/** What the server has sent: statuses of what users wrote here are written, settings are kept for the one who asks, the mode goes to the gate. */
export interface NoticeBoard {
  readonly settings: AgentSettings;
  onNotices(notices: Notices): void;
  /** Something in the cluster is not as it was: statuses that somebody changed are restored. */
  observed(delta: Delta): void;
  /** The cluster is not registered any more: no status is written until a server tells something again. */
  release(): void;
  /** Something else may be written than before. */
  modeChanged(): void;
}

export interface NoticeBoardOptions {
  /** What users write to ask something of the plane. */
  readonly userKinds: readonly Kind[];
  readonly view: () => Informer;
  readonly writer: StatusWriter;
  /** What holds before a server has said anything. */
  readonly defaults: AgentSettings;
  /** The settings in what a server sent; undefined when it is about something else. Throws InvalidResource. */
  readonly settingsIn: (resource: Resource) => AgentSettings | undefined;
  /** The mode in what a server sent; undefined when it is about something else. Throws InvalidResource. */
  readonly modeIn: (resource: Resource) => WriteRules | undefined;
  /** Called with each mode that was received. */
  readonly mode: (rules: WriteRules) => void;
  /** Called when other settings hold. */
  readonly changed: (settings: AgentSettings) => void;
  readonly log: Log;
}

/**
 * Applies notices as they arrive; until then `defaults` are in use. Settings that cannot be parsed leave those before in use; a mode that
 * cannot be parsed permits no write.
 */
export function noticeBoard({
  userKinds,
  view,
  writer,
  defaults,
  settingsIn,
  modeIn,
  mode,
  changed,
  log,
}: NoticeBoardOptions): NoticeBoard {
  const users = new Set(userKinds.map(kindKeyOf));
  /** By `resourceKeyOf`. What an older connection sent holds until a newer one has sent everything. */
  let statuses = new Map<string, DesiredStatus>();
  let settings = defaults;
  let isReleased = false;

  function settingsFrom(resource: Resource): AgentSettings | undefined {
    try {
      return settingsIn(resource);
    } catch (error) {
      log.warn(
        { object: resource.metadata.name },
        `cannot parse the settings from the server; the previous settings are still used: ${messageOf(error)}`,
      );
      return undefined;
    }
  }

  /** What is not understood allows nothing. */
  function rulesIn(resource: Resource): WriteRules | undefined {
    try {
      return modeIn(resource);
    } catch (error) {
      log.error(
        { object: resource.metadata.name },
        `cannot parse the mode of this cluster from the server, so nothing is written: ${messageOf(error)}`,
      );
      return NO_WRITES;
    }
  }

  /** A server's word that is no status is left out: what was said before stays. */
  function statusIn(resource: AnyResource): JsonObject | undefined {
    const { status = {} } = resource;
    if (isStatus(status)) return status;
    const object = keptText(formatRef(refOf(resource)), MAX_TEXT);
    log.warn({ object }, `the server sent a status of ${object} that is not valid; the previous status is kept: upgrade the server`);
    return undefined;
  }

  /** What cannot be understood is not in force, whatever was said of an earlier form of it. */
  function write(keys: Iterable<string>): void {
    if (isReleased) return;
    const { malformed, snapshot } = view();
    const updates: DesiredStatus[] = [];
    for (const key of keys) {
      const problem = malformed.get(key);
      const status = statuses.get(key);
      if (problem !== undefined && users.has(kindKeyOf(problem.ref))) updates.push(malformedStatus(problem));
      else if (status !== undefined) updates.push(keepUnreported(status, snapshot));
    }
    writer.write(updates);
  }

  return {
    get settings() {
      return settings;
    },
    release() {
      isReleased = true;
      statuses = new Map();
    },
    onNotices({ complete, put, remove }) {
      isReleased = false;
      if (complete) statuses = new Map();
      for (const ref of remove) statuses.delete(resourceKeyOf(ref));
      const before = settings;
      for (const resource of put) {
        const ref = refOf(resource);
        const rules = rulesIn(resource);
        if (rules !== undefined) {
          mode(rules);
          continue;
        }
        if (users.has(kindKeyOf(ref))) {
          const status = statusIn(resource as AnyResource);
          if (status !== undefined) statuses.set(resourceKeyOf(ref), { ref, status });
        } else settings = settingsFrom(resource) ?? settings;
      }
      if (settings !== before) changed(settings);
      write(complete ? statuses.keys() : put.map((resource) => resourceKeyOf(refOf(resource))));
    },
    observed({ put, remove }) {
      const refs = [...put.map(refOf), ...remove].filter((ref) => users.has(kindKeyOf(ref)));
      write(refs.map(resourceKeyOf));
    },
    modeChanged: () => write(new Set([...statuses.keys(), ...view().malformed.keys()])),
  };
}

const MAX_TEXT = 1_024;

/** Whether a value can be written as a status: the conditions in it are read here, the rest is the API server's to judge. */
function isStatus(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const { conditions = [] } = value;
  return Array.isArray(conditions) && conditions.every((one) => isObject(one) && CONDITION.every((field) => isText(one[field])));
}

const CONDITION = ["type", "status", "reason", "message"] as const;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
