/**
 * SigMF collections: the recordings listed in a .sigmf-collection file, one per software radio, are the inputs of one
 * observation in list order.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { preparing } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { secondsBetween } from '../../../core/instant.js';
import { formatSeconds } from '../../../core/units.js';
import type { Format, OpenOptions, Recording } from '../../format.js';
import { headOf, readJson, withInput } from '../../io/input.js';
import { joinRecordings } from '../../several/recordings.js';
import { firstIssue } from '../../telescope-json.js';
import { besideIt } from './meta.js';
import { openSigmf } from './open.js';

/** A recording's base name, and the hash of its metadata file. */
const streamSchema = z.union([
  z.looseObject({ name: z.string(), hash: z.string().optional() }),
  z.tuple([z.string(), z.string()]).transform(([name, hash]) => ({ name, hash })),
]);
const collectionSchema = z.looseObject({
  collection: z.looseObject({
    'core:streams': z.array(streamSchema).min(1, 'a collection needs a recording'),
    'core:extensions': z
      .array(z.looseObject({ name: z.string(), optional: z.boolean().optional() }))
      .optional(),
  }),
});

const sha512Of = (path: string): Promise<string> =>
  withInput(
    path,
    async (file) =>
      createHash('sha512')
        .update(await headOf(file, file.sizeBytes))
        .digest('hex'),
    'the collection names it: put all its recordings in one folder',
  );

/** Times from one clock agree within the fraction of a sample that their digits omit. */
function refuseOtherStart(first: Recording, other: Recording, rateHz: number): void {
  if ((first.unknownFacts ?? []).includes('start') !== (other.unknownFacts ?? []).includes('start'))
    refuse(
      other.path,
      `only one of it and ${first.path} has core:datetime`,
      'write core:datetime into both, or into none and give the start yourself',
    );
  const lateS = secondsBetween(first.start, other.start);
  if (Math.abs(lateS) * rateHz > 0.5)
    refuse(
      other.path,
      `starts ${formatSeconds(Math.abs(lateS))} ${lateS > 0 ? 'after' : 'before'} ${first.path}`,
      'recordings of a collection start together, by one clock; name the files in a list if they do not',
    );
}

export const openCollection = (path: string, options: OpenOptions = {}): Promise<Recording> =>
  preparing(async (closers) => {
    const json = await readJson(path);
    const checked = collectionSchema.safeParse(json);
    if (!checked.success)
      refuse(
        path,
        `is not a SigMF collection (${firstIssue(checked.error, json)})`,
        'correct that key',
        'file.damaged',
      );
    const { 'core:streams': streams, 'core:extensions': extensions } = checked.data.collection;
    const needed = extensions?.find(({ name, optional }) => name !== 'corella' && optional === false);
    if (needed)
      refuse(
        path,
        `needs the extension '${needed.name}', which is not known here`,
        'export it without, or name its recordings in a list',
      );
    // The telescope's stations are those of all recordings together.
    const { telescope, polarisations, ...each } = options;
    const recordings: Recording[] = [];
    for (const { name, hash } of streams) {
      if (/[/\\]/.test(name) || name === '..')
        refuse(path, `'${name}' is not a plain file name`, 'keep recordings beside their collection');
      if (streams.filter((one) => one.name === name).length > 1)
        refuse(path, `names ${name} twice`, 'name each recording once');
      const metaPath = besideIt(path, `${name}.sigmf-meta`);
      if (hash !== undefined && (await sha512Of(metaPath)) !== hash.toLowerCase())
        refuse(
          metaPath,
          `is not the file that ${path} was made with: its SHA-512 is another`,
          'it was changed, damaged or replaced: copy the collection again',
        );
      const recording = closers.keep(await openSigmf(metaPath, each));
      if (recording.kind === 'spectra')
        refuse(metaPath, 'holds channelised data', 'a collection is read where it holds voltages');
      if (recordings.length > 0) refuseOtherStart(recordings[0], recording, recording.sampleRateHz);
      recordings.push(recording);
    }
    const joined = joinRecordings(recordings, { telescope, polarisations });
    return { ...joined, path, details: { ...joined.details, collection: checked.data.collection } };
  });

export const sigmfCollection: Format = {
  name: 'sigmf-collection',
  title: 'SigMF collection',
  extensions: ['.sigmf-collection'],
  kinds: [
    {
      title: 'SigMF collection',
      holds: 'recordings',
      reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations', 'start', 'sideband'],
    },
  ],
  recognise: (path, head) =>
    /\.sigmf-collection$/i.test(path) ||
    /^\s*\{\s*"collection"\s*:[^]*"core:streams"/.test(new TextDecoder('latin1').decode(head)),
  open: openCollection,
};
