/** Files in a folder that can be inspected. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { refuseForeignFolder } from '../formats/index.js';

/** Pictures, reports and the data of a SigMF recording, which is found by its metadata. */
const NOT_READ = /\.(?:png|html|jsonl|ya?ml|sigmf-data|md|txt)$/i;
/** Folders that are one data set rather than a collection of files. */
const DATA_SET = /^(?:table\.dat|antenna|.*\.metafits)$/i;

/** The files of a folder, by name; undefined for a file or a data set of many files. Others' data sets are refused. */
export async function filesOfFolder(path: string): Promise<readonly string[] | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return undefined;
  const entries = await readdir(path, { withFileTypes: true });
  refuseForeignFolder(path);
  if (entries.some(({ name }) => DATA_SET.test(name))) return undefined;
  return entries
    .filter((entry) => !entry.name.startsWith('.') && !NOT_READ.test(entry.name))
    .filter((entry) => entry.isFile() || /\.ms$/i.test(entry.name))
    .map(({ name }) => join(path, name))
    .sort();
}
