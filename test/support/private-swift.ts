import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { probeBucket } from './bucket.ts';
import { freePort, ordinaryUser, PrivateServer, type ServerUser, temporaryFolder } from './private-server.ts';

const STORES = ['account', 'container', 'object'] as const;
const run = promisify(execFile);

/** Two to this power are the partitions of a ring. */
const PART_POWER = 2;

/** Starts an OpenStack Swift of its own: five processes that serve a bucket over the S3 interface. */
export async function startPrivateSwift(): Promise<PrivateServer> {
  await run('swift-ring-builder', ['--version']).catch(missing('no OpenStack Swift is installed'));
  await run('memcached', ['--version']).catch(missing('no memcached is installed, which Swift needs'));
  const user = ordinaryUser(['swift', 'nobody']);
  const folder = temporaryFolder('swift', user);
  const [port, cachePort, ...ports] = await Promise.all([0, 1, ...STORES].map(freePort));
  const settings = (ownPort: number | undefined, pipeline: string): string =>
    `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${ownPort}
workers = 0
swift_dir = ${folder}
devices = ${folder}/devices
mount_check = false
[pipeline:main]
pipeline = ${pipeline}
`;
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  makeFolder(join(folder, 'devices'), user);
  makeFolder(join(folder, 'devices', 'disk'), user);
  write('swift.conf', '[swift-hash]\nswift_hash_path_suffix = barid\n[storage-policy:0]\nname = one\n');
  await Promise.all(
    STORES.map(async (store, index) => {
      write(
        `${store}.conf`,
        `${settings(ports[index], `${store}-server`)}[app:${store}-server]\nuse = egg:swift#${store}\n`,
      );
      const builder = (...args: readonly string[]) =>
        run('swift-ring-builder', [`${store}.builder`, ...args], { cwd: folder, ...user });
      await builder('create', String(PART_POWER), '1', '1');
      await builder('add', `r1z1-127.0.0.1:${ports[index]}/disk`, '1');
      await builder('rebalance');
    }),
  );
  write(
    'proxy.conf',
    `${settings(port, 'catch_errors cache s3api tempauth slo proxy-server')}
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_interval = 0
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${cachePort}
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
`,
  );
  const servers = [...STORES, 'proxy'].map((name) => `swift-${name}-server ${name}.conf`);
  const memcached = `memcached -l 127.0.0.1 -p ${cachePort}`;
  const started = [memcached, ...servers].map((command) => `${command} & pids="$pids $!"`);
  const url = `http://test%3Atester:testing@127.0.0.1:${port}/reports`;
  const server = new PrivateServer({
    url,
    folder,
    command: {
      file: 'sh',
      args: ['-c', [`trap 'kill $pids' TERM`, ...started, 'wait'].join('\n')],
    },
    user,
    probe: () => probeBucket(url),
    fastSignal: 'SIGTERM',
    immediateSignal: 'SIGTERM',
  });
  await server.start();
  return server;
}

function missing(reason: string) {
  return (error: NodeJS.ErrnoException): void => {
    if (error.code === 'ENOENT') throw new Error(reason);
  };
}

function makeFolder(path: string, { uid, gid }: ServerUser): void {
  mkdirSync(path);
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
