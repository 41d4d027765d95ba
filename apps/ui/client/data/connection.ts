import { type ConsoleEvents, STREAM_PATH } from "@isthmus/console/wire";
import type { ConnectionState } from "./connectionState.ts";
import type { FleetEvent } from "./fold.ts";

export interface ConnectionOptions {
  readonly onEvent: (event: FleetEvent) => void;
  readonly onState: (state: ConnectionState) => void;
}

const EVENTS: readonly (keyof ConsoleEvents)[] = [
  "reset",
  "change",
  "generated",
  "insights",
  "ended",
  "certificates",
  "activity",
  "viewer",
  "ready",
  "clock",
];

// The server's clock comes every few seconds: a connection that is silent for so long is dead, although nobody has closed it.
const SILENCE_MS = 20_000;
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [1_000, 15_000];

/** Follows the stream until `signal` is aborted. The browser resumes a broken stream by itself; one that was refused, or is silent, is opened again. */
export function followStream({ onEvent, onState }: ConnectionOptions, signal: AbortSignal): void {
  let source: EventSource | undefined;
  let retryMs = FIRST_RETRY_MS;
  let heardAt = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isConnected: boolean | undefined;

  const report = (now: boolean): void => {
    if (now === isConnected) return;
    isConnected = now;
    onState({ isConnected: now, since: Date.now() });
  };
  const openAgain = (): void => {
    source?.close();
    report(false);
    clearTimeout(timer);
    timer = setTimeout(open, retryMs);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  };
  const heard = (): void => {
    heardAt = Date.now();
    retryMs = FIRST_RETRY_MS;
    report(true);
  };

  function open(): void {
    if (signal.aborted) return;
    heardAt = Date.now();
    const opened = new EventSource(STREAM_PATH);
    source = opened;
    for (const type of EVENTS) {
      opened.addEventListener(type, (message: MessageEvent<string>) => {
        if (opened !== source) return;
        heard();
        onEvent({ type, data: JSON.parse(message.data) } as FleetEvent);
      });
    }
    opened.onerror = () => {
      if (opened !== source) return;
      if (opened.readyState === EventSource.CLOSED) {
        openAgain();
        void logInAgain();
      } else report(false);
    };
  }

  const watch = setInterval(() => {
    if (isConnected === true && Date.now() - heardAt > SILENCE_MS) openAgain();
  }, 2_000);
  signal.addEventListener("abort", () => {
    source?.close();
    clearTimeout(timer);
    clearInterval(watch);
  });
  open();
}

/** Leads to the login, if that is why a stream was refused: an EventSource does not say. */
async function logInAgain(): Promise<void> {
  const answer = await fetch(STREAM_PATH, { method: "HEAD" }).catch(() => undefined);
  if (answer?.status === 401) location.assign(`/login?next=${encodeURIComponent(`${location.pathname}${location.search}`)}`);
}
