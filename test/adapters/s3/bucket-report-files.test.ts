import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BucketConfig,
  BucketError,
  BucketReportFiles,
} from '../../../src/adapters/s3/bucket-report-files.ts';
import { bucketAt } from '../../support/bucket.ts';
import { withCertificateAuthority } from '../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import { connectTls, peerConnections } from '../../support/provider-tls.ts';
import { until } from '../../support/until.ts';

const ID = 'a1'.repeat(20);
const TIMEOUTS = { connectMs: 200, responseMs: 200, idleMs: 200 };
/** Longer than a test takes. */
const PATIENT = { connectMs: 120_000, responseMs: 120_000, idleMs: 120_000 };
const ATTEMPTS = 3;
const PART_BYTES = 5 * 2 ** 20;
const bucketUrl = process.env.TEST_S3_URL ?? '';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

const opened: { close: () => void }[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

const configAt = (endpoint: string): BucketConfig => ({
  bucket: 'reports',
  prefix: 'a/b',
  endpoint,
  region: 'us-east-1',
  pathStyle: true,
  accessKeyId: 'the-access-key',
  secretAccessKey: 'the-secret',
});

/** A bucket whose responses are made by the test; it notes the requests. */
async function bucketThat(respond: Respond, timeouts = TIMEOUTS) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/&?x-id=\w+/, '')}`);
    request.resume().on('end', () => respond(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const { port } = server.address() as AddressInfo;
  const config = configAt(`http://127.0.0.1:${port}`);
  return { files: new BucketReportFiles(config, peerConnections, timeouts), requests };
}

const isListing = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'GET' && url.includes('uploads');
const xml = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'Content-Type': 'application/xml', ETag: '"e"' }).end(body);
};
const rejectWith = (response: ServerResponse, status: number, code: string): void =>
  xml(response, status, `<Error><Code>${code}</Code><Message>No.</Message></Error>`);

async function* contentOf(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

describe('BucketReportFiles', () => {
  it('BucketReportFiles gives a bucket that never responds up after three attempts', async () => {
    const { files, requests } = await bucketThat(() => undefined);
    await expect(files.read(ID)).rejects.toMatchObject({ name: 'BucketError', code: 'TimeoutError' });
    expect(requests).toEqual(Array.from({ length: ATTEMPTS }, () => `GET /reports/a/b/${ID}.csv?`));
  });

  it.each([
    ['while it lists unfinished uploads', 'write', 0],
    ['while it uploads', 'write', 1],
    ['while it removes', 'remove', 0],
  ] as const)(
    'BucketReportFiles gives up as soon as its signal is aborted, %s',
    async (_, method, responded) => {
      const controller = new AbortController();
      let requests = 0;
      const { files } = await bucketThat((_request, response) => {
        requests += 1;
        // Nobody waits for the rest.
        if (requests > responded) controller.abort();
        else xml(response, 200, '<ListMultipartUploadsResult></ListMultipartUploadsResult>');
      }, PATIENT);
      const { signal } = controller;
      const work = method === 'write' ? files.write(ID, contentOf('text'), signal) : files.remove(ID, signal);
      await expect(work).rejects.toMatchObject({ name: 'BucketError', code: 'AbortError' });
      expect(requests).toBe(responded + 1);
    },
  );

  it('BucketReportFiles gives a download up whose bytes cease', async () => {
    const { files } = await bucketThat((_, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('half');
    });
    const content = await files.read(ID);
    await expect(content?.toArray()).rejects.toThrow(/timed out/);
  });

  it('BucketReportFiles writes to a bucket that does not let it list unfinished uploads', async () => {
    const { files, requests } = await bucketThat((request, response) => {
      if (isListing(request)) rejectWith(response, 403, 'AccessDenied');
      else xml(response, 200, '');
    });
    await files.write(ID, contentOf('text'));
    expect(requests.map((request) => request.split('?')[0])).toEqual([
      'GET /reports/',
      `PUT /reports/a/b/${ID}.csv`,
    ]);
  });

  it('BucketReportFiles aborts no upload of another file whose id begins alike', async () => {
    const { files, requests } = await bucketThat((request, response) => {
      if (!isListing(request)) return xml(response, 204, '');
      const upload = (key: string) => `<Upload><Key>${key}</Key><UploadId>${key.length}</UploadId></Upload>`;
      const uploads = [`a/b/${ID}.csv`, `a/b/${ID}.csv.other`].map(upload).join('');
      xml(response, 200, `<ListMultipartUploadsResult>${uploads}</ListMultipartUploadsResult>`);
    });
    await files.remove(ID);
    const aborted = requests.filter((request) => request.includes('uploadId='));
    expect(aborted).toEqual([expect.stringContaining(`uploadId=${`a/b/${ID}.csv`.length}`)]);
  });

  it.each([
    ['a list of unfinished uploads', 200, 'ListMultipartUploadsResult'],
    ['an error', 403, 'Error'],
  ])('BucketReportFiles reads no more than 32 KiB of %s', async (_, status, element) => {
    let sent = 0;
    let isCut = false;
    const { files } = await bucketThat((request, response) => {
      if (!isListing(request)) return xml(response, 204, '');
      const content = Buffer.alloc(64 * 1024, 'x');
      response.on('close', () => {
        isCut = !response.writableFinished;
      });
      response.writeHead(status).write(`<${element}><Code>`);
      const more = () => {
        if (response.destroyed) return;
        sent += content.length;
        if (sent <= 64 * 2 ** 20) response.write(content, () => setImmediate(more));
        else response.end(`</Code></${element}>`);
      };
      more();
    }, PATIENT);
    await expect(files.remove(ID)).rejects.toBeInstanceOf(BucketError);
    await until(() => isCut);
    expect(sent).toBeLessThan(16 * 2 ** 20);
  });

  it('BucketReportFiles gives a response up that declares document types', async () => {
    const { files, requests } = await bucketThat((_, response) =>
      xml(response, 404, '<!DOCTYPE x>'.repeat(2_000)),
    );
    await expect(files.read(ID)).rejects.toMatchObject({
      message: 'The bucket reports cannot be used: Error: The bucket declares a document type',
    });
    expect(requests).toHaveLength(1);
  });

  it('BucketReportFiles gives a request up that gets informational responses without an end', async () => {
    let sent = 0;
    const { files } = await bucketThat((_, response) => {
      const more = () => {
        if (response.destroyed) return;
        sent += 1;
        response.writeProcessing();
        setImmediate(more);
      };
      more();
    }, PATIENT);
    await expect(files.read(ID)).rejects.toMatchObject({
      message:
        'The bucket reports cannot be used: Error: The bucket sends more than 10 informational responses',
    });
    expect(sent).toBeGreaterThan(10);
  });

  it.each([
    ['a file', 200],
    ['an error', 404],
  ])('BucketReportFiles gives %s up that comes byte by byte', async (_, status) => {
    const { files } = await bucketThat((_request, response) => {
      response.writeHead(status, { 'Transfer-Encoding': 'chunked' }).flushHeaders();
      response.socket?.write('1\r\na\r\n'.repeat(20_000));
    }, PATIENT);
    const read = async () => (await files.read(ID))?.toArray();
    await expect(read()).rejects.toThrow('The bucket sends its response in too many small pieces');
  });

  it('BucketReportFiles reads a file in a thousand small pieces', async () => {
    const { files } = await bucketThat((_request, response) => {
      response.writeHead(200, { 'Transfer-Encoding': 'chunked' }).flushHeaders();
      response.socket?.write(`${'1\r\na\r\n'.repeat(999)}0\r\n\r\n`);
    });
    const content = await files.read(ID);
    expect(Buffer.concat((await content?.toArray()) ?? []).toString()).toBe('a'.repeat(999));
  });

  it('BucketReportFiles reads the response behind a few informational ones', async () => {
    const { files } = await bucketThat((_, response) => {
      for (let count = 0; count < 10; count += 1) response.writeProcessing();
      response.writeHead(200).end('text');
    });
    const content = await files.read(ID);
    expect(Buffer.concat((await content?.toArray()) ?? []).toString()).toBe('text');
  });

  it('BucketReportFiles ends a read as soon as its signal is aborted', async () => {
    const controller = new AbortController();
    const { files, requests } = await bucketThat(() => controller.abort(), PATIENT);
    await expect(files.read(ID, controller.signal)).rejects.toMatchObject({ code: 'AbortError' });
    expect(requests).toHaveLength(1);
  });

  it('BucketReportFiles gives a response up whose bytes come one by one', async () => {
    const { files } = await bucketThat(
      (request, response) => {
        if (!isListing(request)) return xml(response, 204, '');
        response.writeHead(200).write('<ListMultipartUploadsResult>');
        const trickle = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(trickle));
      },
      { ...PATIENT, responseMs: 200 },
    );
    await expect(files.remove(ID)).rejects.toBeInstanceOf(BucketError);
  });

  it('BucketReportFiles aborts ten unfinished uploads of a file at most', async () => {
    const { files, requests } = await bucketThat((request, response) => {
      if (!isListing(request)) return xml(response, 204, '');
      const uploads = Array.from(
        { length: 25 },
        (_, id) => `<Upload><Key>a/b/${ID}.csv</Key><UploadId>${id}</UploadId></Upload>`,
      );
      xml(response, 200, `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`);
    });
    await files.remove(ID);
    expect(requests.filter((request) => request.includes('uploadId='))).toHaveLength(10);
  });

  it('BucketReportFiles takes no code of the bucket that is none', async () => {
    const { files } = await bucketThat((_, response) =>
      rejectWith(response, 403, 'AWS4-HMAC-SHA256 Credential=the-access-key'),
    );
    await expect(files.read(ID)).rejects.toMatchObject({
      code: 'UnknownError',
      message: 'The bucket reports cannot be used: UnknownError: HTTP 403',
    });
  });

  it('BucketReportFiles names the error of an upload that fails in its middle', async () => {
    const { files } = await bucketThat((request, response) => {
      if (request.method === 'PUT') return rejectWith(response, 403, 'QuotaExceeded');
      if (request.method !== 'POST') return xml(response, 200, '');
      const result = '<UploadId>1</UploadId>';
      xml(response, 200, `<InitiateMultipartUploadResult>${result}</InitiateMultipartUploadResult>`);
    }, PATIENT);
    const content = contentOf(
      'x'.repeat(2 * PART_BYTES),
      'y'.repeat(2 * PART_BYTES),
      'z'.repeat(2 * PART_BYTES),
    );
    await expect(files.write(ID, content)).rejects.toMatchObject({ code: 'QuotaExceeded' });
  });

  it('BucketReportFiles reads all of a long file', async () => {
    const length = 3 * 2 ** 20;
    const { files } = await bucketThat((_, response) => {
      response.writeHead(200, { 'Content-Length': length }).end('x'.repeat(length));
    }, PATIENT);
    expect(Buffer.concat((await (await files.read(ID))?.toArray()) ?? [])).toHaveLength(length);
  });

  it('BucketReportFiles throws the error of the content also when the bucket does not abort the upload', async () => {
    const { files, requests } = await bucketThat((request, response) => {
      if (request.method === 'DELETE') return rejectWith(response, 500, 'InternalError');
      if (request.method !== 'POST') return xml(response, 200, '');
      const result = '<UploadId>1</UploadId>';
      xml(response, 200, `<InitiateMultipartUploadResult>${result}</InitiateMultipartUploadResult>`);
    });
    const reason = new Error('The lease is lost');
    const content = (async function* () {
      yield 'x'.repeat(2 * PART_BYTES);
      throw reason;
    })();
    await expect(files.write(ID, content)).rejects.toBe(reason);
    expect(requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(ATTEMPTS);
  });

  it('BucketReportFiles names the error of the bucket, and neither key nor signature', async () => {
    const { files } = await bucketThat((_, response) => {
      const repeated =
        '<Message>AWS4-HMAC Credential=the-access-key</Message><StringToSign>AWS4-HMAC</StringToSign>';
      xml(response, 403, `<Error><Code>SignatureDoesNotMatch</Code>${repeated}</Error>`);
    });
    const error: unknown = await files.write(ID, contentOf('text')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: 'The bucket reports cannot be used: SignatureDoesNotMatch: HTTP 403',
      code: 'SignatureDoesNotMatch',
    });
    expect(`${inspect(error, { depth: 9, showHidden: true })}${(error as Error).stack}`).not.toMatch(
      /the-access-key|the-secret|AWS4/,
    );
  });
});

describe.skipIf(bucketUrl === '')(
  bucketUrl === '' ? 'a real bucket (skipped: TEST_S3_URL is not set)' : 'a real bucket',
  () => {
    const config = bucketAt(bucketUrl || 'http://a:b@127.0.0.1/reports');
    const ask = (changed: Partial<BucketConfig>) =>
      new BucketReportFiles({ ...config, ...changed }, peerConnections);

    it('a real bucket rejects a wrong secret, and the error does not repeat it', async () => {
      const secretAccessKey = 'hunter2hunter2';
      const error: unknown = await ask({ secretAccessKey })
        .read(ID)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'BucketError', code: 'SignatureDoesNotMatch' });
      const told = inspect(error, { depth: 9, showHidden: true });
      for (const secret of [secretAccessKey, config.accessKeyId, 'AWS4']) expect(told).not.toContain(secret);
    });

    it('a real bucket that does not exist is named by the error of a write, a read and a removal', async () => {
      const files = ask({ bucket: 'no-such-bucket' });
      const missing = { name: 'BucketError', code: 'NoSuchBucket' };
      await expect(files.write(ID, contentOf('text'))).rejects.toMatchObject(missing);
      await expect(files.read(ID)).rejects.toMatchObject(missing);
      await expect(files.remove(ID)).rejects.toMatchObject(missing);
    });
  },
);

describe.skipIf(!hasOpenssl)(`a bucket over TLS (skipped when ${OPENSSL_MISSING})`, () => {
  it('a file is written and read, and no key is agreed on with a prime that the bucket chooses', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue('localhost', 2, 'rsa'),
    }));
    const askWith = async (ciphers: string) => {
      const server = createTlsServer(
        { ...pair, maxVersion: 'TLSv1.2', dhparam: 'auto', ciphers },
        (request, response) => {
          request.resume();
          if (isListing(request)) xml(response, 200, '<ListMultipartUploadsResult/>');
          else if (request.method === 'GET') response.end('a,b');
          else response.setHeader('ETag', '"e"').end();
        },
      ).listen(0, 'localhost');
      await once(server, 'listening');
      opened.push({
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
      const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
      const files = new BucketReportFiles(
        configAt(endpoint),
        { ...peerConnections, connectTls: (address) => connectTls({ ...address, ca }) },
        PATIENT,
      );
      await files.write(ID, contentOf('a,b'));
      return Buffer.concat((await (await files.read(ID))?.toArray()) ?? []).toString();
    };
    expect(await askWith('ECDHE-RSA-AES128-GCM-SHA256')).toBe('a,b');
    await expect(askWith('DHE-RSA-AES128-GCM-SHA256')).rejects.toThrow('The bucket reports cannot be used');
  });

  it('BucketReportFiles gives a bucket up that makes no handshake', async () => {
    const server = createTcpServer().listen(0, 'localhost');
    await once(server, 'listening');
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    opened.push({
      close: () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    });
    const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
    const files = new BucketReportFiles(configAt(endpoint), peerConnections, { ...PATIENT, connectMs: 200 });
    await expect(files.read(ID)).rejects.toThrow('No connection in time');
    expect(sockets).not.toHaveLength(0);
  });
});
