import type { ConsoleCertificate } from "@isthmus/console/wire";
import { useServerNow } from "../components/Times.tsx";
import { certificateUse } from "../model/certificateRows.ts";
import { certificateTimeline } from "../model/certificateTimeline.ts";
import { t } from "../strings.ts";

/** When certificates end, from left to right: one mark each, of the colour of its state. The table below says the same in words. */
export function CertificateTimeline({ certificates }: { readonly certificates: readonly ConsoleCertificate[] }) {
  const spans = certificateTimeline(certificates, useServerNow());
  return (
    <ol className="end-spans" aria-label={t.certificates.timeline}>
      {spans.map(({ id, ends }) => (
        <li key={id} data-tone={id === "ended" && ends.length > 0 ? "bad" : undefined}>
          <span className="end-span">{t.certificates.spans[id]}</span>
          <strong>{ends.length}</strong>
          <span className="end-marks" aria-hidden="true">
            {ends.slice(0, MOST_MARKS).map(({ certificate, status }) => (
              <i
                key={`${certificate.kind} ${certificate.cluster} ${certificate.name}`}
                data-tone={status.tone}
                title={`${certificateUse(certificate)} ${certificate.name}${certificate.cluster === "" ? "" : `, ${certificate.cluster}`}: ${certificate.notAfter ?? ""}`}
              />
            ))}
          </span>
        </li>
      ))}
    </ol>
  );
}

// Four lines of them; the number is beside.
const MOST_MARKS = 48;
