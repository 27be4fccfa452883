/** The token of the receipts of `ownIdGateway`. */
export const RECEIPTS_TOKEN = 'a token of more than sixteen';

/** The channels of a service with one gateway for sms, whose receipts come under ids of ours; its token is in `variable`. */
export function ownIdGateway(port: number, variable: string) {
  return {
    sms: {
      providers: {
        gateway: {
          kind: 'http-gateway',
          secrets: { TOKEN: { env: variable } },
          senderId: 'Barid',
          request: {
            method: 'GET',
            url: `http://127.0.0.1:${port}/send`,
            query: { to: '{to}', text: '{text}', ref: '{id}' },
          },
          success: { status: [200] },
          receipts: {
            authorization: { query: 'token', value: '{secret:TOKEN}' },
            method: 'GET',
            from: 'query',
            id: '/ref',
            status: '/status',
            states: { ENROUTE: 'sent', DELIVRD: 'delivered', UNDELIV: 'failed' },
          },
        },
      },
    },
  };
}

/** The path and query of a receipt with that status under an id of ours. */
export function receiptPath(id: string, status: string): string {
  return `/callbacks/gateway?${new URLSearchParams({ token: RECEIPTS_TOKEN, ref: id, status })}`;
}
