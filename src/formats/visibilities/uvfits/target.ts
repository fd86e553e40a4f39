/** The groups of one source, or of all. */
import type { InputFile } from '../../io/input.js';
import { chooseTarget } from '../targets.js';
import type { UvfitsLayout } from './layout.js';
import { indexGroups, type GroupIndex, type GroupReader } from './rows.js';

export async function indexTarget(
  file: InputFile,
  of: {
    readonly layout: UvfitsLayout;
    readonly reader: GroupReader;
    readonly target: string | undefined;
  },
  nameOf: (id: number) => string | undefined,
): Promise<{ readonly index: GroupIndex; readonly several?: string | undefined }> {
  const { layout, reader, target } = of;
  const index = await indexGroups(file, layout, reader);
  const present = index.sources.map((id) => ({ id, name: nameOf(id)?.trim() ?? String(id) }));
  const { only, several } = chooseTarget(file.path, present, target);
  if (!only || present.length === 1) return { index, several };
  return { index: await indexGroups(file, layout, reader, only.id) };
}
