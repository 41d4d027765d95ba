import { explainedCode } from "@isthmus/insights/catalogue";
import { Command } from "../components/Command.tsx";
import { Facts } from "../components/Facts.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { explainCommand } from "../model/commands.ts";
import { documentationOfCode } from "../model/copies.ts";
import { t } from "../strings.ts";

/** What to do about a code in general, where else to read of it, and how not to be shown it; nothing for a code that this version does not know. */
export function CodeMeaning({ code }: { readonly code: string }) {
  const known = explainedCode(code);
  if (known === undefined) return null;
  return (
    <Section title={t.insights.about}>
      <Facts
        rows={[
          [t.insights.remedy, known.remedy],
          [t.insights.example, <Name key="example" text={known.example} isWrapped />],
          [t.insights.category, known.category],
          [t.insights.sameCheck, <Command key="explain" text={explainCommand(code)} />],
          [t.insights.documentationTitle, <Name key="documentation" text={documentationOfCode(code) ?? ""} isWrapped />],
          [
            t.insights.suppress,
            <div key="suppress">
              <p>{t.insights.suppressHow}</p>
              <Command text={t.insights.suppressAnnotation(code)} what={t.insights.annotation} />
            </div>,
          ],
        ]}
      />
    </Section>
  );
}
