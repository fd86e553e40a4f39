/** The contents of any known file. */
import { formatInstant } from '../../core/instant.js';
import { holdsGains, openFile, type OpenedFile } from '../../formats/index.js';
import { readingOptionsOf, type SourcePart } from '../../observation/index.js';
import { describeFile } from '../inspect.js';
import { satelliteLines, satellitesOver } from '../satellites.js';
import { inspectedCapture } from './capture.js';
import { inspectedFilterbank } from './filterbank.js';
import { inspectedGains } from './gains.js';
import { inspectedImage } from './image.js';
import { recordingReport, type RecordingFacts } from './recording.js';
import type { Inspected, Report, ReportOptions } from './report.js';
import { factLines, line } from './text.js';
import { visibilityReport } from './visibilities.js';

/**
 * Recognised by content, unless `source.format` is given. `source` and `telescope` give facts that the file may lack,
 * as in an observation. The caller closes the result.
 */
export async function openInspected(
  path: string,
  { source = {}, telescope }: { readonly source?: SourcePart; readonly telescope?: string } = {},
): Promise<Inspected> {
  if (source.format === undefined) {
    if (await holdsGains(path)) return inspectedGains(path);
    const known = (await inspectedImage(path)) ?? (await inspectedFilterbank(path));
    if (known) return known;
  }
  const packets = await inspectedCapture(path, source);
  if (packets) return packets;
  const file = await openFile(path, await readingOptionsOf(source, telescope));
  return {
    holds: file.kind,
    report: (options) => fileReport(file, { source, telescope }, options),
    close: () => file.close(),
  };
}

async function fileReport(file: OpenedFile, facts: RecordingFacts, options: ReportOptions): Promise<Report> {
  const description = describeFile(file);
  const checked = options.whole === true ? await checksumOf(file) : undefined;
  const { start, json, lines, spectrum, pictures } =
    file.kind === 'visibilities'
      ? await visibilityReport(file, options)
      : await recordingReport(file, facts, options);
  const satellites = satellitesOver(file, start);
  return {
    json: {
      ...description,
      startUtc: description.start && formatInstant(description.start, 9),
      ...json,
      satellites,
      spectrum: {
        frequenciesHz: Array.from(spectrum.frequenciesHz),
        powerDb: Array.from(spectrum.powerDb),
      },
      ...(checked && { checksum: checked }),
      details: file.details,
    },
    lines: [
      ...factLines(description),
      ...lines,
      ...(satellites ? satelliteLines(satellites) : []),
      ...(checked ? [line('checksum', checked)] : []),
    ],
    pictures,
  };
}

/** The checksum of all data, if the file contains one to compare with. */
async function checksumOf(file: OpenedFile): Promise<string | undefined> {
  if (file.kind === 'visibilities' || !file.verify) return undefined;
  await file.verify();
  return 'matches core:sha512';
}
