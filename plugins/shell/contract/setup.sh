mkdir -p src/deep docs
printf 'apple\nbanana\ncherry\napple\n' > fruits.txt
printf 'name,age,city\nann,30,Rome\nbob,25,Oslo\ncid,41,Rome\n' > people.csv
printf 'one 1\ntwo 2\nthree 3\nten 10\n' > numbers.txt
printf 'package main\n\nfunc main() {\n\t// NOTE: say hello\n\tprintln("hello")\n}\n' > src/main.go
printf 'package deep\n\n// NOTE: nothing\nfunc Deep() int { return 42 }\n' > src/deep/deep.go
printf '# Title\n\nSome text here.\n\n- item a\n- item b\n' > docs/readme.md
printf '2024-01-01 ERROR disk full\n2024-01-02 INFO ok\n2024-01-03 ERROR net down\n2024-01-04 WARN slow\n' > app.log
printf '{"name":"x","list":[1,2,3],"sub":{"k":"v"}}\n' > data.json
printf 'no newline at end' > bare.txt
printf 'b\ta\nd\tc\n' > tabs.txt
: > empty
