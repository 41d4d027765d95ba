import { useId } from "react";
import { Choices } from "../components/Choices.tsx";
import { useCopy } from "../components/CopyButton.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useTyped } from "../components/useTyped.ts";
import { parseFilter, unknownKeyOf } from "../model/lines/tokens.ts";
import { BOXES, boxesOf, GRAPH_KEYS, PARTS, partsOf, withPart } from "../model/topology/topologyParts.ts";
import { t } from "../strings.ts";

const VIEWS = ["graph", "table"] as const;
const MINUTES = ["5", "60"] as const;
// The edges that each part stands for, as they are drawn.
const EDGES_OF = {
  policy: ["route", "mirror"],
  access: ["access"],
  federation: ["federation"],
  traffic: ["traffic"],
  insights: [],
} as const;

/** What is shown of the graph, and how; all of it is in the address. */
export function TopologyBar({ found }: { readonly found: number | undefined }) {
  const [{ view, minutes, box, show }, change] = usePageSearch();
  const parts = partsOf(show);
  const boxId = useId();
  const { isCopied, copy } = useCopy();
  return (
    <>
      <div className="topology-bar">
        <Choices
          label={t.topology.view}
          choices={VIEWS}
          chosen={view === "table" ? "table" : "graph"}
          textOf={(each) => t.topology[each]}
          choose={(each) => change({ view: each === "table" ? each : undefined })}
        />
        <Choices
          label={t.traffic.window}
          choices={MINUTES}
          chosen={minutes === "60" ? "60" : "5"}
          textOf={(each) => t.traffic.minutes(Number(each))}
          choose={(each) => change({ minutes: each === "60" ? each : undefined })}
        />
        <span className="topology-field">
          <label htmlFor={boxId}>{t.topology.box}</label>
          <select
            id={boxId}
            className="input"
            value={boxesOf(box)}
            onChange={({ currentTarget }) => change({ box: currentTarget.value === "cluster" ? undefined : currentTarget.value })}
          >
            {BOXES.map((each) => (
              <option key={each} value={each}>
                {t.topology.boxes[each]}
              </option>
            ))}
          </select>
        </span>
        <span className="topology-finds">
          <GraphFilter member="find" label={t.topology.find} hint={t.topology.findHint} count={found} />
          <GraphFilter member="without" label={t.topology.hide} hint={t.topology.hideHint} />
        </span>
      </div>
      <div className="topology-bar">
        <div className="choices legend" role="group" aria-label={t.topology.show}>
          {PARTS.map((part) => (
            <button
              key={part}
              type="button"
              className="choice"
              aria-pressed={parts.has(part)}
              onClick={() => change({ show: withPart(parts, part) })}
            >
              {EDGES_OF[part].length === 0
                ? t.topology.insights
                : EDGES_OF[part].map((type) => (
                    <span key={type} className={`sample ${type}`}>
                      {t.topology.edges[type]}
                    </span>
                  ))}
            </button>
          ))}
        </div>
        <button type="button" className="button" onClick={() => void copy(window.location.href)}>
          <span aria-live="polite">{isCopied ? t.common.copied : t.topology.copyLink}</span>
        </button>
      </div>
    </>
  );
}

interface GraphFilterProps {
  readonly member: "find" | "without";
  readonly label: string;
  readonly hint: string;
  readonly count?: number | undefined;
}

function GraphFilter({ member, label, hint, count }: GraphFilterProps) {
  const [search, change] = usePageSearch();
  const value = search[member] ?? "";
  const [text, type] = useTyped(value, (next) => change({ [member]: next }));
  const unknown = unknownKeyOf(parseFilter(value), GRAPH_KEYS);
  const id = useId();
  return (
    <span className="topology-field wide">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        type="search"
        value={text}
        placeholder={hint}
        spellCheck={false}
        autoComplete="off"
        aria-describedby={`${id}-about`}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      <span id={`${id}-about`} className="note" role="status">
        {unknown === undefined ? (count === undefined ? "" : t.topology.found(count)) : t.table.unknownKey(unknown, GRAPH_KEYS)}
      </span>
    </span>
  );
}
