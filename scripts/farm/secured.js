// A secured farm: TLS with its own certificate authority, and a token or an NKey. With valid credentials it works as
// one process does; without them it is refused with a clear message.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { openFile } from '../../dist/formats/index.js';
import { corella, freePort, sleep, start, startCorella } from '../processes.js';

const TOKEN = 'three-blind-mice-17';
export const hasOpenssl = () => spawnSync('openssl', ['version']).status === 0;

/** @param {string} folder @param {string} words */
function openssl(folder, words) {
  const { status, stderr } = spawnSync('openssl', words.split(' '), { cwd: folder });
  if (status !== 0) throw new Error(`openssl ${words}: ${String(stderr)}`);
}

/** An authority, and its certificate for 127.0.0.1. @param {string} folder @param {string} name */
function authority(folder, name) {
  openssl(folder, `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`); // prettier-ignore
  writeFileSync(join(folder, `${name}.ext`), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  openssl(folder, `req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout ${name}-server.key -out ${name}-server.csr`); // prettier-ignore
  openssl(folder, `x509 -req -in ${name}-server.csr -CA ${name}.pem -CAkey ${name}.key -CAcreateserial -days 2 -extfile ${name}.ext -out ${name}-server.pem`); // prettier-ignore
}

/** @param {string} path */
async function sums(path) {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('no visibilities');
    const all = [];
    for await (const { visibilities, counts } of file.integrations('own'))
      all.push([...visibilities], [...counts]);
    return JSON.stringify(all);
  } finally {
    await file.close();
  }
}

/** @param {number} port @returns {Promise<boolean>} */
const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });

/** @param {string} where */
export async function secured(where) {
  if (!hasOpenssl()) {
    console.log('openssl is not installed (Debian: apt-get install openssl): nothing of TLS was tested');
    return true;
  }
  const folder = join(where, 'secured');
  mkdirSync(folder);
  for (const name of ['ours', 'theirs']) authority(folder, name);
  const [user, stranger] = [nkeys.createUser(), nkeys.createUser()];
  const seedOf = (/** @type {typeof user} */ pair) => new TextDecoder().decode(pair.getSeed());
  writeFileSync(join(folder, 'user.seed'), `${seedOf(user)}\n`);
  writeFileSync(join(folder, 'stranger.seed'), `${seedOf(stranger)}\n`);
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  writeFileSync(join(folder, 'wrong'), 'guessed\n');
  await corella(folder, ...'simulate --stations 3 --rate 50kHz --duration 40ms -o sky'.split(' '));
  const how = 'sky.sigmf-meta --channels 4 --integration 10ms --values sums';
  await corella(folder, ...`correlate ${how} -o one.uvh5`.split(' '));
  const one = await sums(join(folder, 'one.uvh5'));
  let isRight = true;
  for (const [kind, authorization, papers, wrong] of /** @type {const} */ ([
    ['token', `token: "${TOKEN}"`, '--token-file token', '--token-file wrong'],
    ['nkey', `users: [ { nkey: ${user.getPublicKey()} } ]`, '--nkey user.seed', '--nkey stranger.seed'],
  ])) {
    const port = await freePort();
    writeFileSync(
      join(folder, `${kind}.conf`),
      `listen: 127.0.0.1:${port}\njetstream { store_dir: "${join(folder, `store-${kind}`)}" }\nauthorization { ${authorization} }\n` +
        `tls { cert_file: "${join(folder, 'ours-server.pem')}", key_file: "${join(folder, 'ours-server.key')}" }\n`,
    );
    const server = start('nats-server', ['-c', `${kind}.conf`], folder);
    const url = `tls://127.0.0.1:${port}`;
    try {
      /** The message of its refusal. @param {string} words */
      const refusal = (words) => corella(folder, ...words.split(' ')).then(() => 'NOT REFUSED', String);
      const submit = `farm submit correlate ${how} -o ${kind}.uvh5 --job-time 10ms --server ${url}`;
      // Waits until it listens.
      for (let tries = 0; tries < 100 && !(await listens(port)); tries++) await sleep(100);
      const refused = {
        authority: await refusal(
          `${submit} ${papers} ${kind === 'token' ? '' : '--tls-ca theirs.pem'}`.trim(),
        ),
        papers: await refusal(`${kind === 'token' ? submit : `worker --server ${url} --root .`} ${wrong} --tls-ca ours.pem`), // prettier-ignore
      };
      const isRefused =
        /no secure connection .*--tls-ca/s.test(refused.authority) &&
        refused.papers.includes('refuses us: it asks for other credentials');
      await corella(folder, ...`${submit} ${papers} --tls-ca ours.pem`.split(' '));
      const worker = startCorella(folder, `worker --server ${url} ${papers} --tls-ca ours.pem --root . --threads 1 --until-idle 2s`.split(' ')); // prettier-ignore
      await corella(
        folder,
        ...`farm collect ${kind}.uvh5.farm --server ${url} ${papers} --tls-ca ours.pem`.split(' '),
      );
      await worker.ended;
      const isSame = (await sums(join(folder, `${kind}.uvh5`))) === one;
      console.log(
        `TLS and ${kind}: ${isSame ? 'identical to one process' : 'NOT the same'}; ` +
          (isRefused ? `${kind === 'token' ? 'no' : 'another'} authority and wrong papers were refused` : `NOT refused as it should: ${JSON.stringify(refused)}`), // prettier-ignore
      );
      isRight &&= isSame && isRefused;
    } finally {
      await server.kill();
    }
  }
  return isRight;
}
