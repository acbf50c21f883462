import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { describe, it } from "node:test";
import { AllowList, isPublic } from "../../src/webhooks/addresses.ts";
import { parseDestination, guardedLookup, RefusedDestination } from "../../src/webhooks/destination.ts";

const nothing = new AllowList([]);

const inner = {
  "this machine": ["127.0.0.1", "127.255.255.254", "::1"],
  "private networks": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1"],
  "link-local addresses": ["169.254.0.1", "fe80::1", "febf::1"],
  "metadata of clouds": [
    "169.254.169.254",
    "fd00:ec2::254",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
  ],
  "shared addresses of providers": ["100.64.0.1", "100.127.255.255"],
  "multicast and broadcast": ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"],
  "no address yet": ["0.0.0.0", "0.1.2.3", "::"],
  "reserved and for documentation": [
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "2001:db8::1",
  ],
  "mapped into IPv6": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"],
  "within IPv6 in older ways": ["::127.0.0.1", "::ffff:0:127.0.0.1", "fec0::1"],
  "translated or tunnelled": ["64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001::1"],
  "other parts of IPv6": ["100::1", "4000::1", "5f00::1"],
};

describe("isPublic", () => {
  for (const [what, addresses] of Object.entries(inner)) {
    it(`knows that ${what} are not`, () => {
      for (const address of addresses) assert.equal(isPublic(address), false, address);
    });
  }
  it("knows what is", () => {
    for (const address of [
      "1.1.1.1",
      "93.184.215.14",
      "172.32.0.1",
      "100.128.0.1",
      "2606:4700::1111",
      "2a00::1",
    ])
      assert.equal(isPublic(address), true, address);
    // An embedded IPv4 address
    assert.equal(isPublic("::ffff:1.1.1.1"), true);
  });
  it("doesn't take a name for an address", () => {
    for (const text of ["localhost", "", "1.1.1", "0x01.1.1.1"]) assert.equal(isPublic(text), false, text);
  });
});

describe("destinationOf", () => {
  for (const address of Object.values(inner).flat()) {
    const host = address.includes(":") ? `[${address}]` : address;
    it(`refuses ${host}`, () =>
      assert.throws(() => parseDestination(`https://${host}/`, nothing), RefusedDestination));
  }
  for (const host of [
    ...[
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "0x7f.1",
      "127.1",
      "127.0.0.1.",
      "１２７.0.0.1",
      "%31%32%37.0.0.1",
    ],
    ...[
      "0xa9fea9fe",
      "2852039166",
      "0251.0376.0251.0376",
      "[::ffff:a9fe:a9fe]",
      "[0:0:0:0:0:ffff:127.0.0.1]",
    ],
  ]) {
    it(`refuses ${host}`, () =>
      assert.throws(() => parseDestination(`http://${host}/`, nothing), RefusedDestination));
  }
  for (const [url, message] of Object.entries({
    "ftp://example.com/": /https: and http: addresses only/,
    "file:///etc/passwd": /https: and http: addresses only/,
    "javascript:alert(1)": /https: and http: addresses only/,
    "example.com": /https: and http: addresses only/,
    "https://": /https: and http: addresses only/,
    "https://me:hunter2@example.com/": /name and password/,
    "https://me@example.com/": /name and password/,
    "http://example.com:22/": /not sent to port 22, only to 443 and 80/,
    "http://example.com:25/": /not sent to port 25/,
    "http://example.com:6667/": /not sent to port 6667/,
    "http://1.1.1.1:0/": /not sent to port 0/,
    "https://example.com:8443/": /not sent to port 8443/,
    "http://example.com:3000/": /not sent to port 3000/,
    "http://1.1.1.1:5432/": /not sent to port 5432/,
    "http://[2606:4700::1111]:6379/": /not sent to port 6379/,
  })) {
    it(`refuses ${url}`, () =>
      assert.throws(() => parseDestination(url, nothing), { name: "RefusedDestination", message }));
  }
  it("takes usual addresses", () => {
    for (const url of [
      ...["https://example.com/hooks?shop=1", "http://example.com/", "http://example.com:443/"],
      ...["https://example.com:80/", "https://[2606:4700::1111]/", "http://1.1.1.1/"],
    ])
      assert.equal(parseDestination(url, nothing).href, url);
  });
  it("takes other ports where the operator allows them, and then no others", () => {
    const ports = new AllowList([], [8443, 9000]);
    for (const url of ["https://example.com:8443/", "http://1.1.1.1:9000/"])
      assert.equal(parseDestination(url, ports).href, url);
    for (const url of ["https://example.com/", "http://example.com/", "http://127.0.0.1:9000/"])
      assert.throws(() => parseDestination(url, ports), RefusedDestination);
  });
  it("takes what the operator allows, and no more", () => {
    const allowed = new AllowList(["127.0.0.1", "10.1.0.0/16", "fd00::/8", "receiver.internal", "localhost"]);
    for (const host of [
      "127.0.0.1",
      "0x7f.1",
      "10.1.2.3:81",
      "[fd12::1]",
      "[::ffff:10.1.0.1]",
      "Receiver.internal:81",
    ])
      assert.ok(parseDestination(`http://${host}/`, allowed));
    for (const host of ["127.0.0.2", "10.2.0.1", "[::1]", "[fe80::1]"])
      assert.throws(() => parseDestination(`http://${host}/`, allowed), RefusedDestination);
  });
});

describe("AllowList", () => {
  for (const entry of [
    "10.0.0.0/33",
    "127.1",
    "http://example.com",
    "*.example.com",
    "a b",
    "",
    "10.0.0.0/",
    "x/8",
    "999.1.1.1",
  ])
    it(`doesn't take “${entry}”`, () =>
      assert.throws(() => new AllowList([entry]), /is no host name, no address/));
});

describe("guardedLookup", () => {
  /** A look-up that returns these addresses. */
  function lookUp(name: string, addresses: string[], allowed = nothing, all = true): Promise<any> {
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const look = (
      _name: string,
      _options: unknown,
      callback: (error: null, found: LookupAddress[]) => void,
    ) => callback(null, found);
    const guarded: LookupFunction = guardedLookup(allowed, look as never);
    return new Promise((resolve, reject) => {
      guarded(name, { all }, (error, ...result) => (error ? reject(error) : resolve(result)));
    });
  }

  for (const address of Object.values(inner).flat())
    it(`refuses a name that leads to ${address}`, () =>
      assert.rejects(lookUp("example.com", [address]), {
        name: "RefusedDestination",
        message: "The host name has no address on the public internet.",
      }));
  it("answers public addresses, and leaves others out", async () => {
    assert.deepEqual(await lookUp("example.com", ["10.0.0.1", "1.1.1.1", "::1"]), [
      [{ address: "1.1.1.1", family: 4 }],
    ]);
    assert.deepEqual(await lookUp("example.com", ["10.0.0.1", "1.1.1.1"], nothing, false), ["1.1.1.1", 4]);
  });
  it("answers allowed addresses, and those of allowed names", async () => {
    const allowed = new AllowList(["10.0.0.0/8", "receiver.internal"]);
    assert.deepEqual(await lookUp("example.com", ["192.168.0.1", "10.0.0.1"], allowed), [
      [{ address: "10.0.0.1", family: 4 }],
    ]);
    assert.deepEqual(await lookUp("receiver.internal", ["192.168.0.1"], allowed), [
      [{ address: "192.168.0.1", family: 4 }],
    ]);
    await assert.rejects(lookUp("evil.receiver.internal", ["192.168.0.1"], allowed), RefusedDestination);
  });
  it("refuses a name that leads nowhere", () =>
    assert.rejects(lookUp("example.com", []), RefusedDestination));
  it("asks once for all who want to know at the same time", async () => {
    const asked: ((error: null, found: LookupAddress[]) => void)[] = [];
    const look = (_name: string, _options: unknown, callback: (typeof asked)[number]) => asked.push(callback);
    const guarded = guardedLookup(nothing, look as never);
    const answers: unknown[] = [];
    const ask = (name: string) =>
      guarded(name, { all: true }, (error, found) => answers.push(error ?? found));
    for (const name of ["a.example", "a.example", "b.example"]) ask(name);
    assert.equal(asked.length, 2);
    asked[0]!(null, [{ address: "1.1.1.1", family: 4 }]);
    assert.equal(answers.length, 2);
    // Nothing is cached
    ask("a.example");
    assert.equal(asked.length, 3);
    asked[2]!(null, [{ address: "10.0.0.1", family: 4 }]);
    assert.ok(answers[2] instanceof RefusedDestination);
  });
});
