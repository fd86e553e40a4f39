/** Options for access to a NATS server, for every command that uses one. */
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { refuse } from '../../core/errors.js';
import type { Access } from '../../farm/index.js';
import type { Options } from '../options/own.js';
import type { access } from '../options/shared.js';

export type AccessOptions = Options<z.ZodObject<typeof access>>;

/** Undefined if no server was named; options that need one are then refused. */
export async function accessOf(options: AccessOptions): Promise<Access | undefined> {
  const { server, token, serverTokenFile: tokenFile, nkey, creds, tlsCa, tlsCert, tlsKey } = options;
  if (server === undefined) {
    const given = [token, tokenFile, nkey, creds, tlsCa, tlsCert, tlsKey].some((one) => one !== undefined);
    if (given)
      refuse(
        '--server',
        'is not given, though how to log in there is',
        'name the server, like nats://host:4222',
      );
    return undefined;
  }
  if (!/^(?:nats|tls|ws|wss):\/\/\S+$/.test(server))
    refuse('--server', `'${server}' is no address of a server`, 'write it like nats://host:4222');
  if (token !== undefined && tokenFile !== undefined)
    refuse('--token', 'and --server-token-file exclude each other', 'give one of them');
  const secret = token ?? (tokenFile === undefined ? undefined : await readToken(tokenFile));
  return {
    server,
    token: secret,
    nkey,
    creds,
    tlsCa,
    tlsCert,
    tlsKey,
  };
}

const readToken = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8').catch(() => refuse(path, 'cannot be read', 'check the name'))).trim();
