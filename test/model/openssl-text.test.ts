import { describe, expect, it } from 'vitest';
import { withoutOpensslNoise } from '../../src/model/openssl-text.ts';

const wrongVersion =
  '804C0C13047F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/openssl/ssl/record/ssl3_record.c:350:';

describe('withoutOpensslNoise', () => {
  it.each([
    { text: `${wrongVersion}\n`, plain: 'wrong version number' },
    { text: `write EPROTO ${wrongVersion}\n`, plain: 'write EPROTO wrong version number' },
    {
      text: '40C7:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1605:SSL alert number 40\n',
      plain: 'sslv3 alert handshake failure',
    },
    { text: 'self-signed certificate', plain: 'self-signed certificate' },
    { text: 'connect ECONNREFUSED 127.0.0.1:9126', plain: 'connect ECONNREFUSED 127.0.0.1:9126' },
  ])('keeps the words of $text', ({ text, plain }) => {
    expect(withoutOpensslNoise(text)).toBe(plain);
  });
});
