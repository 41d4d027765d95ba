import { messageOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState } from "react";
import { readChanges, readTimes } from "../../data/past.ts";
import { useFleetState, useFleetStore } from "../../data/store.ts";
import { millisecondsOf, spanText, timeText } from "../../model/age.ts";
import { changedAt, heightsOf } from "../../model/history/momentMarks.ts";
import { t } from "../../strings.ts";
import { usePageSearch } from "./usePageSearch.ts";

// As long as a hand rests on its way.
const REST_MS = 250;

/** Shows, on every page, what was known at an earlier time: that of the address. */
export function TimeSlider({ isOpen }: { readonly isOpen: boolean }) {
  const [{ at }, change] = usePageSearch();
  const store = useFleetStore();
  const { past, fleet, live } = useFleetState();
  useEffect(() => store.show(millisecondsOf(at) === undefined ? undefined : at), [store, at]);
  const [times, setTimes] = useState<readonly string[]>();
  const [changed, setChanged] = useState<ReadonlyMap<string, number>>(NONE);
  const [problem, setProblem] = useState<string>();
  const isShown = isOpen || at !== undefined;
  useEffect(() => {
    if (!isShown) return;
    const stop = new AbortController();
    readTimes(stop.signal).then(
      (read) => {
        setTimes(read.times);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setProblem(t.past.timesFailed(messageOf(error)));
      },
    );
    // Without them the slider has no marks, and is of use all the same.
    readChanges(stop.signal).then(
      (read) => setChanged(changedAt(read)),
      () => undefined,
    );
    return () => stop.abort();
  }, [isShown]);
  if (!isShown) return null;
  const now = millisecondsOf(live.clock?.now) ?? Date.now();
  const isReading = past !== undefined && past.problem === undefined && fleet.past !== past.at;
  const failed = past?.problem === undefined ? undefined : t.past.failed(past.problem);
  return (
    <section className="past" aria-label={t.past.label}>
      {times === undefined || times.length === 0 ? (
        <p className="muted" role={problem === undefined ? undefined : "alert"}>
          {problem ?? (times === undefined ? t.common.loading : t.past.none)}
        </p>
      ) : (
        <Slider times={times} changed={changed} at={at} now={now} choose={(next) => change({ at: next })} />
      )}
      {at === undefined ? null : (
        <>
          <button type="button" className="button small" onClick={() => change({ at: undefined })}>
            {t.past.now}
          </button>
          <Link className="button small" to="/changes" search={{ at }}>
            {t.past.link}
          </Link>
          <p className="past-text" role={failed === undefined ? "status" : "alert"}>
            {failed ?? (isReading ? t.past.reading(timeText(Date.parse(at), now)) : t.past.banner(timeText(Date.parse(at), now)))}
          </p>
        </>
      )}
    </section>
  );
}

const NONE: ReadonlyMap<string, number> = new Map();

interface SliderProps {
  readonly times: readonly string[];
  /** How many objects changed, by time. */
  readonly changed: ReadonlyMap<string, number>;
  readonly at: string | undefined;
  readonly now: number;
  choose(at: string | undefined): void;
}

/** One place for each time, and the last for now. */
function Slider({ times, changed, at, now, choose }: SliderProps) {
  const id = useId();
  const chosen =
    at === undefined
      ? times.length
      : Math.max(
          0,
          times.findLastIndex((time) => time <= at),
        );
  const [moved, setMoved] = useState<number>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const place = moved ?? chosen;
  const ms = millisecondsOf(times[place]);
  const count = changed.get(times[place] ?? "") ?? 0;
  const text = ms === undefined ? t.past.now : t.past.earlier(timeText(ms, now), spanText(now - ms), count);
  return (
    <div className="past-slider">
      <label htmlFor={id}>{t.past.slider}</label>
      <span className="past-range">
        <Marks times={times} changed={changed} />
        <input
          id={id}
          type="range"
          min={0}
          max={times.length}
          value={place}
          aria-valuetext={text}
          onChange={({ currentTarget: { value } }) => {
            const next = Number(value);
            setMoved(next);
            clearTimeout(timer.current);
            timer.current = setTimeout(() => {
              setMoved(undefined);
              choose(times[next]);
            }, REST_MS);
          }}
        />
      </span>
      <output htmlFor={id}>{text}</output>
    </div>
  );
}

/** A mark where something changed, the higher the more did. */
function Marks({ times, changed }: Pick<SliderProps, "times" | "changed">) {
  const heights = heightsOf(times, changed);
  return (
    <svg className="past-marks" viewBox={`-0.5 0 ${times.length + 1} 1`} preserveAspectRatio="none" aria-hidden="true">
      {heights.map(({ place, height }) => (
        <rect key={place} x={place - MARK_WIDTH / 2} y={1 - height} width={MARK_WIDTH} height={height} />
      ))}
    </svg>
  );
}

// Of the way from one time to the next.
const MARK_WIDTH = 0.7;
