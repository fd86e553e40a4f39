/** Provenance of a file: written to its header, so that it can be made again. */
import type { OpenedFile } from '../../formats/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { version } from '../../core/program/version.js';

/** The histories of the inputs come first. */
export const history = (
  made: { readonly from?: OpenedFile; readonly telescope?: Telescope } = {},
): string[] => {
  const { from, telescope = from?.telescope } = made;
  const earlier = from?.kind === 'visibilities' ? from.header.history : (from?.history ?? []);
  return [
    ...earlier,
    `corella ${version()}`,
    `corella ${process.argv.slice(2).join(' ')}`.trim(),
    ...(telescope ? [`telescope ${telescope.name}: ${telescope.title}`] : []),
    ...(from ? [`from ${from.path} (${from.format})`] : []),
  ];
};
