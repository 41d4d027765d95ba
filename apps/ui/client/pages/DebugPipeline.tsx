import { Command } from "../components/Command.tsx";
import { useScope } from "../components/frame/useScope.ts";
import { LagText } from "../components/LagText.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useFleet } from "../data/store.ts";
import { pipelineOf } from "../model/pipeline.ts";
import { t } from "../strings.ts";

/** From what agents report to what they acknowledge: what each stage has come to, in all and in each cluster. */
export function DebugPipeline() {
  const fleet = useFleet();
  const { clusters, ...all } = pipelineOf(fleet, useScope());
  const lag = all.behindSince === undefined ? undefined : <LagText key="lag" lag={{ since: all.behindSince }} />;
  const stages = [
    { title: t.debug.received, text: t.debug.receivedText(all.received, clusters.length), time: all.oldestHeardAt, what: t.debug.oldest },
    { title: t.debug.merged, text: t.debug.mergedText(all.merged), time: fleet.clock?.at, what: t.debug.sourceTime },
    { title: t.debug.translated, text: t.debug.translatedText(all.translated) },
    { title: t.debug.sent, text: t.debug.sentText(all.connected, clusters.length) },
    { title: t.debug.acked, text: t.debug.ackedText(all.acknowledged, clusters.length) },
  ];
  return (
    <>
      <p className="note">{t.debug.pipelineWhy}</p>
      <Command text={t.debug.pipelineCommand} />
      <Section title={t.debug.stages}>
        <ol className="stages">
          {stages.map(({ title, text, time, what }) => (
            <li key={title} className="stage">
              <strong>{title}</strong>
              <span>{text}</span>
              {time === undefined ? null : (
                <span className="muted">
                  {what} <When time={time} />
                </span>
              )}
              {title !== t.debug.acked ? null : (
                <>
                  {all.behind === 0 ? null : (
                    <span>
                      {t.debug.behindText(all.behind)} {lag}
                    </span>
                  )}
                  {all.unknown === 0 ? null : <span className="muted">{t.debug.unknownText(all.unknown)}</span>}
                </>
              )}
            </li>
          ))}
        </ol>
      </Section>
      <Section title={t.nav.clusters}>
        <PlainTable
          label={t.debug.stages}
          headers={[t.columns.cluster, t.columns.state, t.debug.received, t.columns.heard, t.debug.translated, t.columns.lag]}
          rows={clusters.map(({ name, status, received, heardAt, translated, lag: behind }) => ({
            key: name,
            cells: [
              <Name key="name" text={name} />,
              <StatusMark key="status" status={status} />,
              received,
              <When key="heard" time={heardAt} />,
              translated,
              <LagText key="lag" lag={behind} />,
            ],
          }))}
        />
      </Section>
    </>
  );
}
