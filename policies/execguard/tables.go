package execguard

// readers only read, whatever their options; see hazards for those that know an option to write.
const readers = `
	: [ arch base32 base64 basename bc bzcat bzgrep bzless cal cat caller cd cksum cmp colordiff column comm compgen continue break cut date declare
	df diff diff3 dig dir dirname dirs du echo egrep exit expand expr factor false fc fgrep file fmt fold free
	getconf getent getopt getopts grep groups hash head help hexdump host hostid hostname iconv id ifconfig info iostat ipcs jobs join jq
	last lastlog less let locale locate logname look ls lsattr lsb_release lsblk lscpu lsmod lsof lspci lsusb local man mapfile md5sum more
	mpstat netstat nl nm nproc nslookup numfmt objdump od paste pathchk pgrep popd pr printenv printf ps pstree ptx pushd pwd
	read readarray readelf readlink readonly realpath return rev rg seq set sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shopt
	shuf size sleep sort ss stat strings stty sum tac tail test times top tput tr tree true tsort tty type typeset ulimit umask unalias
	uname unexpand uniq units unset uptime users vmstat w wait wc whatis whereis which who whoami xmllint xxd xzcat xzgrep yes zcat
	zdiff zegrep zfgrep zgrep zless zmore apropos bg fg disown export ag ack bat fd cloc sqlformat
`

// writers write the files they are given.
const writers = `mkdir touch rmdir truncate split csplit mkfifo ln install unzip zip gzip gunzip bzip2 bunzip2 xz unxz
	zstd patch dos2unix unix2dos rename ar cpio rsync unlzma lzma compress uncompress 7z`

// careful commands build, test or talk to the network: useful every day, and able to run anything.
const careful = `make cmake ninja go gofmt cargo rustc gcc g++ cc clang ld javac java mvn gradle tox pytest npx yarn pnpm pip pip3 bundle gem
	rake ant sbt dotnet msbuild tsc eslint prettier black ruff mypy flake8 jest webpack convert ffmpeg identify pandoc pdflatex latex
	ping ping6 traceroute tracepath mtr whois curl wget lynx w3m bind complete logger history enable mktemp gpg openssl ssh-keygen
	nano sqlite diffstat ctags cscope m4 bison flex yacc lex strip ldd dmesg journalctl`

// dangers reach beyond the files at hand. Each line: names, and what they do.
const dangers = `
	shred,unlink,srm,wipe deletes files beyond recovery
	shutdown,reboot,halt,poweroff,init,telinit stops the machine
	killall,pkill,skill,xkill ends other programs
	passwd,chpasswd,useradd,usermod,userdel,groupadd,groupdel,groupmod,gpasswd,adduser,deluser,visudo,vipw,chage,newgrp changes users or their rights
	fdisk,sfdisk,cfdisk,parted,gdisk,sgdisk,losetup,cryptsetup,lvremove,vgremove,pvremove,lvcreate,mdadm,fsck,e2fsck,tune2fs,resize2fs,zfs,zpool,btrfs,hdparm,swapon,swapoff,umount changes disks
	insmod,rmmod,modprobe,kexec changes the kernel
	service,update-rc.d,chkconfig,rc-update,iptables,ip6tables,nft,ufw,firewall-cmd,setenforce,setcap,chattr,setfacl changes the system
	at,batch runs commands later
	ssh,scp,sftp,rsh,rlogin,nc,ncat,netcat,socat,telnet,ftp,lftp,tftp,mosh opens a connection to another machine
	mail,mailx,sendmail,mutt,wall,write sends messages to people
	dpkg,rpm installs or removes software
	psql,mysql,mysqladmin,mongo,mongosh,redis-cli,sqlite3 can change a database
	vi,vim,nvim,ex,ed,emacs,view can run any command
	screen,tmux,script,expect,gdb,lldb,osascript,tclsh,wish,jshell,ghci can run any command
	pkexec,setpriv runs commands as another user
	coproc runs text as a command
	twine,vercel,netlify,heroku,gh,glab changes something outside this machine
`

// hazards are options that make a command do more than its rule says. Each line: names, level, options.
const hazards = `
	sort caution -o --output
	sort danger --compress-program
	tree caution -o
	xxd caution -r
	hash danger -p
	rg danger --pre --hostname-bin
	fd danger -x -X --exec --exec-batch
	ag,man danger --pager -P
	less caution -o -O
	bat danger --pager
	file caution -C --compile
	dmesg danger -C -c --clear
	journalctl danger --vacuum-size --vacuum-time --rotate
	history caution -c -d -w
	enable danger -f
	xmllint caution --output --shell
	shuf caution -o --output
	date danger --set
	curl danger -d --data --data-raw --data-binary --data-urlencode --json -F --form -T --upload-file -X --request -K --config
	wget danger --post-data --post-file --method --body-data --body-file -e --execute --use-askpass
	zip danger -T --test --unzip-command
	rsync danger --delete --remove-source-files -e --rsh --rsync-path
	tar danger -I --use-compress-program --to-command --checkpoint-action --rsh-command -F --info-script --new-volume-script --remove-files
	cpio danger --rsh-command
	bind danger -x
	complete danger -C
	git danger --upload-pack --receive-pack --exec-path --ext-diff --open-files-in-pager --exec
	git caution --output
`
