// SPDX-License-Identifier: MIT
/*
 * Fill a new ext4 image, just made by mke2fs, with files that have extents on the disk but no data.
 * The extents are allocated and marked as initialised, but never written. (If the extents were
 * marked as unwritten, the kernel would read them without a request to the disk.)
 *
 *	mkfiles [--progress] IMAGE < SCRIPT
 *
 *	d PATH        make a directory, in the group that has the fewest directories
 *	f PATH SIZE   make a file of SIZE bytes, by first fit from its inode's group on
 *	e PATH        erase a file
 *	l PATH        print the file's location: INODE SIZE EXTENTS {START LENGTH}...
 *	end           the script is complete; print "done FILES"
 *
 * Paths are relative to the root of the image. A directory's group is chosen as the kernel does for
 * top-level directories. First fit puts new files into the holes of erased files.  This produces
 * the fragmentation described in the papers (PERFORM 2010 section 5).
 *
 * All time stamps are the image's creation time, so equal scripts produce equal images. The image
 * is marked as not clean until the script has ended. After any error, mkfiles prints one line with
 * the script's line number and exits with code 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ext2fs/ext2fs.h>

#define PROGRESS_LINES 8192

struct directory {
	ext2_ino_t inode;
	char path[];
};

/* A path after its lookup: the directory that contains it, and its name in that directory. */
struct place {
	ext2_ino_t parent;
	const char *name;
	ext2_ino_t inode; /* 0: does not exist yet */
};

struct builder {
	ext2_filsys fs;
	const char *image;
	char *line;
	unsigned long line_number;
	unsigned long files;
	void *directories; /* a tsearch tree of struct directory */
	bool ended;
};

static int complain(const struct builder *builder, const char *what, errcode_t error)
{
	fprintf(stderr, "mkfiles: %s: script line %lu: %s%s%s\n", builder->image,
		builder->line_number, what, error ? ": " : "",
		error ? error_message(error) : "");
	return -1;
}

/* Directories that the script has made. The cache saves looking up each part of a path. */

static int compare_directories(const void *a, const void *b)
{
	return strcmp(((const struct directory *)a)->path,
		      ((const struct directory *)b)->path);
}

static struct directory *new_directory(const char *path, size_t length,
				       ext2_ino_t inode)
{
	struct directory *directory = malloc(sizeof(*directory) + length + 1);

	if (!directory)
		return NULL;
	directory->inode = inode;
	memcpy(directory->path, path, length);
	directory->path[length] = '\0';
	return directory;
}

static int remember(struct builder *builder, const char *path, ext2_ino_t inode)
{
	struct directory *directory = new_directory(path, strlen(path), inode);

	if (directory && tsearch(directory, &builder->directories, compare_directories))
		return 0;
	free(directory);
	return complain(builder, "no memory", 0);
}

/* Returns 0 if there is no such directory. */
static ext2_ino_t recall(struct builder *builder, const char *path, size_t length)
{
	struct directory *key = new_directory(path, length, 0);
	struct directory **match = NULL;

	if (key)
		match = tfind(key, &builder->directories, compare_directories);
	free(key);
	return match ? (*match)->inode : 0;
}

static int check_name(const struct builder *builder, const char *name)
{
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return complain(builder, "not a name for a file or directory", 0);
	if (strlen(name) > EXT2_NAME_LEN)
		return complain(builder, "the name is longer than 255 bytes", 0);
	return 0;
}

static int find_place(struct builder *builder, const char *path, struct place *place)
{
	const char *slash = strrchr(path, '/');
	errcode_t error;

	place->name = slash ? slash + 1 : path;
	place->inode = 0;
	if (check_name(builder, place->name))
		return -1;
	place->parent = slash ? recall(builder, path, slash - path) : EXT2_ROOT_INO;
	if (!place->parent)
		return complain(builder, "its parent directory does not exist", 0);
	error = ext2fs_lookup(builder->fs, place->parent, place->name,
			      strlen(place->name), NULL, &place->inode);
	if (error && error != EXT2_ET_FILE_NOT_FOUND)
		return complain(builder, "lookup", error);
	return 0;
}

static int find_new(struct builder *builder, const char *path, struct place *place)
{
	if (find_place(builder, path, place))
		return -1;
	return place->inode ? complain(builder, "it exists already", 0) : 0;
}

static int find_file(struct builder *builder, const char *path, struct place *place,
		     struct ext2_inode *inode)
{
	errcode_t error;

	if (find_place(builder, path, place))
		return -1;
	if (!place->inode)
		return complain(builder, "no such file", 0);
	error = ext2fs_read_inode(builder->fs, place->inode, inode);
	if (error)
		return complain(builder, "read the inode", error);
	if (!LINUX_S_ISREG(inode->i_mode))
		return complain(builder, "not a file", 0);
	return 0;
}

/* d PATH */

/*
 * Return an inode number in the group with the fewest directories, the lowest of several such
 * groups.
 */
static ext2_ino_t least_used_group(ext2_filsys fs)
{
	dgrp_t best = 0;

	for (dgrp_t group = 1; group < fs->group_desc_count; group++)
		if (ext2fs_bg_used_dirs_count(fs, group) <
			    ext2fs_bg_used_dirs_count(fs, best) &&
		    ext2fs_bg_free_inodes_count(fs, group))
			best = group;
	return best * fs->super->s_inodes_per_group + 1;
}

static int make_directory(struct builder *builder, const char *path)
{
	ext2_filsys fs = builder->fs;
	struct place place;
	ext2_ino_t inode;
	errcode_t error;

	if (find_new(builder, path, &place))
		return -1;
	error = ext2fs_new_inode(fs, least_used_group(fs), LINUX_S_IFDIR | 0755, NULL,
				 &inode);
	if (!error)
		error = ext2fs_mkdir(fs, place.parent, inode, place.name);
	if (error == EXT2_ET_DIR_NO_SPACE) {
		error = ext2fs_expand_dir(fs, place.parent);
		if (!error)
			error = ext2fs_mkdir(fs, place.parent, inode, place.name);
	}
	if (error)
		return complain(builder, "make the directory", error);
	return remember(builder, path, inode);
}

/* The blocks of a file: the extents of its data, and the nodes of its extent tree. */

struct extent_list {
	size_t count, room;
	struct ext2fs_extent *extents;
};

static bool is_data(const struct ext2fs_extent *extent)
{
	return extent->e_flags & EXT2_EXTENT_FLAGS_LEAF;
}

/*
 * Return the number of blocks of an extent. A node of the tree is always one block, however much of
 * the file it covers.
 */
static __u32 extent_blocks(const struct ext2fs_extent *extent)
{
	return is_data(extent) ? extent->e_len : 1;
}

static errcode_t extent_add(struct extent_list *list,
			    const struct ext2fs_extent *extent)
{
	if (list->count == list->room) {
		size_t room = list->room * 2 + 16;
		void *larger = realloc(list->extents, room * sizeof(*extent));

		if (!larger)
			return ENOMEM;
		list->extents = larger;
		list->room = room;
	}
	list->extents[list->count++] = *extent;
	return 0;
}

static errcode_t extent_take(struct extent_list *list,
			     const struct ext2fs_extent *extent)
{
	if (extent->e_flags & EXT2_EXTENT_FLAGS_UNINIT)
		return EXT2_ET_EXTENT_INVALID_LENGTH;
	if (is_data(extent) && !extent->e_len)
		return 0; /* the root of an empty tree */
	if (extent->e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT)
		return 0; /* a node, visited a second time on the way up */
	return extent_add(list, extent);
}

/* The caller frees list->extents, also after an error. */
static errcode_t extent_read(ext2_filsys fs, ext2_ino_t number,
			     struct ext2_inode *inode, struct extent_list *list)
{
	struct ext2fs_extent extent;
	ext2_extent_handle_t handle;
	errcode_t error = ext2fs_extent_open2(fs, number, inode, &handle);

	if (error)
		return error;
	error = ext2fs_extent_get(handle, EXT2_EXTENT_ROOT, &extent);
	while (!error) {
		error = extent_take(list, &extent);
		if (!error)
			error = ext2fs_extent_get(handle, EXT2_EXTENT_NEXT, &extent);
	}
	ext2fs_extent_free(handle);
	if (error == EXT2_ET_EXTENT_NO_NEXT || error == EXT2_ET_NO_CURRENT_NODE)
		return 0;
	return error;
}

/* f PATH SIZE */

static errcode_t link_file(ext2_filsys fs, const struct place *place)
{
	errcode_t error = ext2fs_link(fs, place->parent, place->name, place->inode,
				      EXT2_FT_REG_FILE);

	if (error != EXT2_ET_DIR_NO_SPACE)
		return error;
	error = ext2fs_expand_dir(fs, place->parent);
	if (error)
		return error;
	return ext2fs_link(fs, place->parent, place->name, place->inode,
			   EXT2_FT_REG_FILE);
}

static errcode_t write_empty_inode(ext2_filsys fs, ext2_ino_t number, __u64 size,
				   struct ext2_inode *inode)
{
	ext2_extent_handle_t handle;
	errcode_t error;

	memset(inode, 0, sizeof(*inode));
	inode->i_mode = LINUX_S_IFREG | 0644;
	inode->i_links_count = 1;
	inode->i_flags = EXT4_EXTENTS_FL;
	inode->i_atime = inode->i_ctime = inode->i_mtime = fs->now;
	error = ext2fs_inode_size_set(fs, inode, size);
	if (!error) /* opening an empty extent tree writes its header into the inode */
		error = ext2fs_extent_open2(fs, number, inode, &handle);
	if (error)
		return error;
	ext2fs_extent_free(handle);
	return ext2fs_write_new_inode(fs, number, inode);
}

/*
 * In e2fsprogs 1.47, ext2fs_fallocate omits blocks from i_blocks once the tree needs a block of its
 * own. So count the blocks here.
 */
static errcode_t count_blocks(ext2_filsys fs, ext2_ino_t number)
{
	struct extent_list list = { 0 };
	struct ext2_inode inode;
	errcode_t error = ext2fs_read_inode(fs, number, &inode);
	__u64 blocks = 0;

	if (!error)
		error = extent_read(fs, number, &inode, &list);
	for (size_t i = 0; i < list.count; i++)
		blocks += extent_blocks(&list.extents[i]);
	free(list.extents);
	if (!error)
		error = ext2fs_iblk_set(fs, &inode, blocks);
	return error ? error : ext2fs_write_inode(fs, number, &inode);
}

static errcode_t give_blocks(ext2_filsys fs, ext2_ino_t number, __u64 size,
			     struct ext2_inode *inode)
{
	dgrp_t group = ext2fs_group_of_ino(fs, number);
	__u64 blocks = (size + fs->blocksize - 1) / fs->blocksize;
	errcode_t error;

	if (!blocks)
		return 0;
	if (blocks > ext2fs_free_blocks_count(fs->super))
		return ENOSPC;
	error = ext2fs_fallocate(fs, EXT2_FALLOCATE_FORCE_INIT, number, inode,
				 ext2fs_group_first_block2(fs, group), 0, blocks);
	return error ? error : count_blocks(fs, number);
}

static int make_file(struct builder *builder, const char *path, __u64 size)
{
	ext2_filsys fs = builder->fs;
	struct ext2_inode inode;
	struct place place;
	errcode_t error;

	if (find_new(builder, path, &place))
		return -1;
	error = ext2fs_new_inode(fs, place.parent, LINUX_S_IFREG | 0644, NULL,
				 &place.inode);
	if (!error)
		error = write_empty_inode(fs, place.inode, size, &inode);
	if (error)
		return complain(builder, "make the inode", error);
	ext2fs_inode_alloc_stats2(fs, place.inode, +1, 0);
	error = give_blocks(fs, place.inode, size, &inode);
	if (error)
		return complain(builder, "give the file its blocks", error);
	error = link_file(fs, &place);
	if (error)
		return complain(builder, "enter the file in its directory", error);
	builder->files++;
	return 0;
}

/* e PATH */

/* ext2fs_punch is not used here: in e2fsprogs 1.47 it refuses an extent at the end of the disk. */
static errcode_t take_blocks(ext2_filsys fs, ext2_ino_t number,
			     struct ext2_inode *inode)
{
	struct extent_list list = { 0 };
	errcode_t error = extent_read(fs, number, inode, &list);

	for (size_t i = 0; !error && i < list.count; i++)
		ext2fs_block_alloc_stats_range(fs, list.extents[i].e_pblk,
					       extent_blocks(&list.extents[i]), -1);
	free(list.extents);
	return error;
}

static errcode_t clear_inode(ext2_filsys fs, ext2_ino_t number)
{
	struct ext2_inode_large empty;

	memset(&empty, 0, sizeof(empty));
	ext2fs_inode_alloc_stats2(fs, number, -1, 0);
	return ext2fs_write_inode_full(fs, number, (struct ext2_inode *)&empty,
				       sizeof(empty));
}

static int erase_file(struct builder *builder, const char *path)
{
	struct ext2_inode inode;
	struct place place;
	errcode_t error;

	if (find_file(builder, path, &place, &inode))
		return -1;
	error = ext2fs_unlink(builder->fs, place.parent, place.name, place.inode, 0);
	if (!error)
		error = take_blocks(builder->fs, place.inode, &inode);
	if (!error)
		error = clear_inode(builder->fs, place.inode);
	if (error)
		return complain(builder, "erase the file", error);
	builder->files--;
	return 0;
}

/* l PATH */

static void print_extents(ext2_ino_t number, __u64 size, const struct extent_list *list)
{
	size_t data = 0;

	for (size_t i = 0; i < list->count; i++)
		data += is_data(&list->extents[i]);
	printf("%u %llu %zu", number, (unsigned long long)size, data);
	for (size_t i = 0; i < list->count; i++)
		if (is_data(&list->extents[i]))
			printf(" %llu %u", (unsigned long long)list->extents[i].e_pblk,
			       list->extents[i].e_len);
	putchar('\n');
}

static int print_place(struct builder *builder, const char *path)
{
	struct extent_list list = { 0 };
	struct ext2_inode inode;
	struct place place;
	errcode_t error;

	if (find_file(builder, path, &place, &inode))
		return -1;
	error = extent_read(builder->fs, place.inode, &inode, &list);
	if (!error)
		print_extents(place.inode, EXT2_I_SIZE(&inode), &list);
	free(list.extents);
	return error ? complain(builder, "read the extents", error) : 0;
}

/* The script. */

static int parse_size(const struct builder *builder, const char *text, __u64 *size)
{
	char *end;

	errno = 0;
	*size = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end)
		return complain(builder, "the size is not a whole number of bytes", 0);
	if (*size > 1ULL << 43)
		return complain(builder, "the size is beyond 8 TiB", 0);
	return 0;
}

/* Split off the next word; return NULL if there is none. */
static char *next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " ");
	} while (word && !*word);
	return word;
}

static int obey(struct builder *builder)
{
	char *rest = builder->line;
	const char *command = next_word(&rest);
	const char *path = next_word(&rest);
	const char *size_text = next_word(&rest);
	bool sized = command && !strcmp(command, "f");
	__u64 size;

	if (command && !strcmp(command, "end") && !path) {
		builder->ended = true;
		return 0;
	}
	if (!command || strlen(command) != 1 || !strchr("dfel", *command))
		return complain(builder,
				"unknown command: there are d, f, e, l and end", 0);
	if (!path || sized != !!size_text || next_word(&rest))
		return complain(
			builder,
			sized ? "not \"f PATH SIZE\"" : "not a command and a PATH", 0);
	if (sized)
		return parse_size(builder, size_text, &size) ||
				       make_file(builder, path, size)
			       ? -1
			       : 0;
	if (*command == 'd')
		return make_directory(builder, path);
	if (*command == 'e')
		return erase_file(builder, path);
	return print_place(builder, path);
}

static int run_script(struct builder *builder, bool progress)
{
	size_t room = 0;
	ssize_t length;

	while (!builder->ended &&
	       (length = getline(&builder->line, &room, stdin)) > 0) {
		builder->line_number++;
		if (builder->line[length - 1] != '\n')
			break; /* the line is incomplete */
		builder->line[length - 1] = '\0';
		if (strlen(builder->line) + 1 != (size_t)length)
			return complain(builder, "a zero byte", 0);
		if (obey(builder))
			return -1;
		if (progress && builder->line_number % PROGRESS_LINES == 0)
			fprintf(stderr, "progress %lu\n", builder->line_number);
	}
	if (!builder->ended)
		return complain(builder, "the script is cut off: it has no \"end\"", 0);
	return getc(stdin) == EOF ? 0 : complain(builder, "text after \"end\"", 0);
}

/* The image. */

static int open_image(struct builder *builder)
{
	/*
	 * The image is new, so its checksums need no verification, which took a third of the time.
	 */
	errcode_t error = ext2fs_open(builder->image,
				      EXT2_FLAG_RW | EXT2_FLAG_64BITS |
					      EXT2_FLAG_IGNORE_CSUM_ERRORS,
				      0, 0, unix_io_manager, &builder->fs);

	if (error)
		return complain(builder, "open", error);
	builder->fs->now = builder->fs->super->s_mkfs_time;
	if (!ext2fs_has_feature_extents(builder->fs->super))
		return complain(builder, "not an ext4 file system: it has no extents",
				0);
	error = ext2fs_read_bitmaps(builder->fs);
	if (error)
		return complain(builder, "read the bitmaps", error);
	builder->fs->super->s_state &= ~EXT2_VALID_FS;
	ext2fs_mark_super_dirty(builder->fs);
	error = ext2fs_flush(builder->fs);
	return error ? complain(builder, "write", error) : 0;
}

/* Close without a flush, so that the image of a failed script remains marked as not clean. */
static void abandon_image(struct builder *builder)
{
	if (builder->fs)
		ext2fs_free(builder->fs);
}

static int close_image(struct builder *builder)
{
	errcode_t error;

	builder->fs->super->s_state |= EXT2_VALID_FS;
	ext2fs_mark_super_dirty(builder->fs);
	error = ext2fs_close_free(&builder->fs);
	return error ? complain(builder, "write", error) : 0;
}

static int finish_output(const struct builder *builder)
{
	printf("done %lu\n", builder->files);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return complain(builder, "write the layout", errno);
}

int main(int argc, char **argv)
{
	struct builder builder = { 0 };
	bool progress = argc == 3 && !strcmp(argv[1], "--progress");
	bool failed;

	if (argc != 2 + progress) {
		fputs("mkfiles [--progress] IMAGE < SCRIPT\n", stderr);
		return 2;
	}
	initialize_ext2_error_table();
	builder.image = argv[1 + progress];
	failed = open_image(&builder) || run_script(&builder, progress);
	tdestroy(builder.directories, free);
	free(builder.line);
	if (failed) {
		abandon_image(&builder);
		return 1;
	}
	return close_image(&builder) || finish_output(&builder);
}
