package digest

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func sum(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "c,check b,binary t,text a,algorithm: z ,tag ,quiet ,status ,ignore-missing w s")
	if err != nil {
		return c.Usage(err)
	}
	name := strings.TrimSuffix(c.Name, "sum")
	if name == "sha" {
		name = "sha" + o.Value("a", "1")
	}
	start, err := algorithm(name)
	if err != nil {
		return c.Usage(err)
	}
	if o.Has("c") {
		return verify(c, o, start)
	}
	return c.Each(o.Operands, func(file string, input io.Reader) error {
		h := start()
		if _, err := io.Copy(h, input); err != nil {
			return err
		}
		if o.Has("tag") {
			fmt.Fprintf(c.Out, "%s (%s) = %x\n", strings.ToUpper(name), file, h.Sum(nil))
			return nil
		}
		mark := " "
		if o.Has("b") {
			mark = "*"
		}
		fmt.Fprintf(c.Out, "%x %s%s\n", h.Sum(nil), mark, file)
		return nil
	})
}

func algorithm(name string) (func() hash.Hash, error) {
	switch name {
	case "md5":
		return md5.New, nil
	case "sha1":
		return sha1.New, nil
	case "sha224":
		return sha256.New224, nil
	case "sha256":
		return sha256.New, nil
	case "sha384":
		return sha512.New384, nil
	case "sha512":
		return sha512.New, nil
	}
	return nil, fmt.Errorf("unknown algorithm %q", name)
}

// verify checks the files of lists that sum wrote.
func verify(c *command.Call, o command.Options, start func() hash.Hash) int {
	lines, status := c.AllLines(o.Operands, '\n')
	wrong, unreadable := 0, 0
	for _, line := range lines {
		want, name, found := strings.Cut(line, " ")
		name = strings.TrimPrefix(strings.TrimPrefix(name, " "), "*")
		if !found {
			continue
		}
		got, err := digestOf(c, name, start)
		switch {
		case err != nil:
			unreadable++
			c.Trouble(name, err)
			fmt.Fprintf(c.Out, "%s: FAILED open or read\n", name)
		case !strings.EqualFold(got, want):
			wrong++
			fmt.Fprintf(c.Out, "%s: FAILED\n", name)
		case !o.Has("quiet") && !o.Has("status"):
			fmt.Fprintf(c.Out, "%s: OK\n", name)
		}
	}
	if unreadable > 0 {
		status = c.Fail("WARNING: %d listed file(s) could not be read", unreadable)
	}
	if wrong > 0 {
		status = c.Fail("WARNING: %d computed checksum(s) did NOT match", wrong)
	}
	return status
}

func digestOf(c *command.Call, name string, start func() hash.Hash) (string, error) {
	input, err := c.Open(name)
	if err != nil {
		return "", err
	}
	h := start()
	_, err = io.Copy(h, input)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, input.Close())
}

// crc is POSIX cksum: the length is part of what is summed.
func crc(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "")
	if err != nil {
		return c.Usage(err)
	}
	return c.Each(o.Operands, func(name string, input io.Reader) error {
		data, err := io.ReadAll(input)
		if err != nil {
			return err
		}
		if name == "-" && len(o.Operands) == 0 {
			name = ""
		}
		fmt.Fprintln(c.Out, strings.TrimSpace(fmt.Sprintf("%d %d %s", posix(data), len(data), name)))
		return nil
	})
}

func posix(data []byte) uint32 {
	value := uint32(0)
	feed := func(b byte) {
		value ^= uint32(b) << 24
		for range 8 {
			if value&(1<<31) != 0 {
				value = value<<1 ^ bitsReversed
			} else {
				value <<= 1
			}
		}
	}
	for _, b := range data {
		feed(b)
	}
	for n := len(data); n > 0; n >>= 8 {
		feed(byte(n))
	}
	return ^value
}

// bitsReversed is the polynomial of crc32.IEEE with its highest bit first.
const bitsReversed = 0x04c11db7
