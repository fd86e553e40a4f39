/** How a NATS server is reached: options of every command that talks to one. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { Access } from '../../farm/index.js';

export interface AccessOptions {
  readonly server?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly nkey?: string;
  readonly creds?: string;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export function addAccessOptions(command: Command, otherwise: string): Command {
  return command
    .optionsGroup('The server, as its own configuration says:')
    .option('--server <url>', `where nats-server listens, like nats://host:4222 (default: ${otherwise})`)
    .option('--token <token>', 'what it asks for; others on this machine see it in the list of processes')
    .option('--token-file <path>', 'the same, in a file')
    .option('--nkey <path>', 'a file with the seed of an NKey')
    .option('--creds <path>', 'a file of credentials, as nsc writes it')
    .option('--tls-ca <path>', 'the authority that signed its certificate')
    .option('--tls-cert <path>', 'our own certificate, where it asks for one')
    .option('--tls-key <path>', 'and its key');
}

/** Undefined where no server was named; what would go with one is then refused. */
export async function accessOf(options: AccessOptions): Promise<Access | undefined> {
  const { server, token, tokenFile, nkey, creds, tlsCa, tlsCert, tlsKey } = options;
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
    refuse('--token', 'and --token-file exclude each other', 'give one of them');
  const told = token ?? (tokenFile === undefined ? undefined : await readToken(tokenFile));
  return {
    server,
    ...(told === undefined ? {} : { token: told }),
    ...(nkey === undefined ? {} : { nkey }),
    ...(creds === undefined ? {} : { creds }),
    ...(tlsCa === undefined ? {} : { tlsCa }),
    ...(tlsCert === undefined ? {} : { tlsCert }),
    ...(tlsKey === undefined ? {} : { tlsKey }),
  };
}

const readToken = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8').catch(() => refuse(path, 'cannot be read', 'check the name'))).trim();
